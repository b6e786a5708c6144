"""HTTP for all pages: identity, forms, limits, security headers, errors, and the description of the API."""
