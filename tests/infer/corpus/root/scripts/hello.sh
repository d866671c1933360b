#!/bin/sh
echo "hello from scripts"
