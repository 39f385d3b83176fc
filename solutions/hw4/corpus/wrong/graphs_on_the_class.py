"""Executables live on the class and outlive the device they were made by.

fails: [independent]
also: [public_compiles, public_outputs, public_eviction, public_waste, known_answers, device_counts, specialisation, eviction, counters, outputs, caches, poison, inputs_kept, refusals]
"""


class CompileCache(CompileCache):
    _executables = OrderedDict()

    def __init__(self, compiler, policy, *, max_entries=None):
        super().__init__(compiler, policy, max_entries=max_entries)
        del self.__dict__["_executables"]
