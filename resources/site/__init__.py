"""The user's YAML files, one per site, as validated models. Start at `load.load_sites`."""
