"""Ways to put one request on the wire. `base` is the seam, `reqwest` the default, `httpx_bridge` any other."""
