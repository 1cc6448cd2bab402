"""The jobs as an HTTP service: tables in, verified results out (`shoal serve`)."""
