#!/bin/sh
set -e
[ "$(sh say.sh hello)" = hello ]
[ "$(sh say.sh --shout hello)" = 'HELLO!' ]
