//! Coordinator and generators: phases, actors, the ledger's observer, the drain.
