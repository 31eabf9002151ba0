"""Engines: where bytes are kept. `open` chooses one by its URL; README.md says what may happen here."""
