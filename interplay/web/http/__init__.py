"""What every page shares of HTTP: who asks, forms, limits, security headers, errors, and the description of the API."""
