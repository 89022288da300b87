#!/bin/sh
# say.sh [--shout] WORD
if [ "$1" = "--shout" ]; then
  shift
  printf '%s!\n' "$1" | tr '[:lower:]' '[:upper:]'
else
  printf '%s\n' "$1"
fi
