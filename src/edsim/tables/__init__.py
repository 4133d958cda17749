"""The nouns that travel between packages. numpy alone; polars and pyarrow only where files are."""
