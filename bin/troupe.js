#!/usr/bin/env node
// Committed (not built), so that npm can link the command before the first build.
// It stays tiny because every call of `troupe` pays for it.
import { existsSync } from 'node:fs';

const entry = new URL('../dist/main/cli.js', import.meta.url);
if (existsSync(entry)) {
  await import(entry.href);
} else {
  process.stderr.write(
    'troupe: dist/ is missing. Run `npm ci && npm run build` in the troupe checkout first.\n',
  );
  process.exitCode = 1;
}
