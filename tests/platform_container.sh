#!/bin/bash
# Becomes what a platform's container is: this host's files, without network, and the platform's own folder at its
# documented place. To be started by `unshare --mount --net`. Arguments: an empty folder; the virtual environment that
# goes to /opt/autograder; the folder that goes to /NAME; NAME; places that every user may reach, separated by colons;
# the command.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
new=$1 venv=$2 folder=$3 name=$4 places=$5
shift 5

bind_children() { # of the folder $1 into the folder $2
    local entry
    for entry in "$1"/* "$1"/.[!.]*; do
        local target=$2/${entry##*/}
        if [ -L "$entry" ]; then
            cp -P "$entry" "$target"
        elif [ -d "$entry" ]; then
            mkdir "$target"
            mount --rbind "$entry" "$target"
        elif [ -e "$entry" ]; then
            touch "$target"
            mount --bind "$entry" "$target"
        fi
    done
}

open_to_all() { # the folder $1: a private home or a temporary folder of this host is none in an image
    mount -t tmpfs -o mode=755 none "$new$1"
    bind_children "$1" "$new$1"
}

mount --make-rprivate / 2>/dev/null || mount --make-rslave /
mount -t tmpfs -o mode=755 none "$new"
bind_children "" "$new"
open_to_all /opt
IFS=: read -ra wanted <<<"$places"
for place in "${wanted[@]}"; do
    path=
    IFS=/ read -ra parts <<<"${place#/}"
    for part in "${parts[@]}"; do
        path=$path/$part
        if [ -d "$path" ] && [ "$(stat -c %A "$new$path" | cut -c 10)" = - ]; then
            open_to_all "$path"
        fi
    done
done
mkdir -p "$new/opt/autograder" "$new/$name"
mount --rbind "$venv" "$new/opt/autograder"
mount --rbind "$folder" "$new/$name"
cd "$new"
pivot_root . . # the old root lies over the new one then
umount -l .
cd "/$name"
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
