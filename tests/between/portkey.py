#!/usr/bin/env python3
"""Portkey AI gateway. A header of each request names the upstream: see versions.toml."""

from gateway import PORT, become

become("gateway", f"--port={PORT}", "--headless")
