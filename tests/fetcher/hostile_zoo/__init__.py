"""Servers that do what servers must not: each beast is one named misbehaviour on a raw socket."""
