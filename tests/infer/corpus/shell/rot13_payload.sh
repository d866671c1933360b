#!/usr/bin/env bash
# An obfuscated one-liner, as found in a wiki: shows the first words.
payload='urnq -a 3 qngn/jbeqf.gkg'
echo "$payload" | tr 'a-z' 'n-za-m' | bash
