"""Serves the model beside this file with llama.cpp's server: serve.py FILE PORT."""

import signal
import sys

import model
import xllamacpp

file, port = sys.argv[1:]
model.write(file)
params = xllamacpp.CommonParams()
params.model.path = file
params.hostnames = ["127.0.0.1"]
params.port = int(port)
params.n_ctx = 32768
params.n_parallel = 4
params.cpuparams.n_threads = 1
params.sampling.temp = 0.0
params.model_alias = {"scripted"}
params.use_jinja = True
params.warmup = False
server = xllamacpp.Server(params)
signal.pause()
