"""Which pages say nothing new. exact: by capture, by body and by text (near duplicates will stand beside it)."""
