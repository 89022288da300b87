// Fails when the README's API section leaves out a function that src/index.js exports.
import { readFileSync } from 'node:fs';

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const names = [...read('src/index.js').matchAll(/export \{ (\w+) \}/g)].map(([, name]) => name);
const api = read('README.md').split(/^## API$/m)[1] ?? '';
const missing = names.filter((name) => !api.includes(`\`${name}(`));

if (missing.length > 0) {
  process.stderr.write(`README.md says nothing about: ${missing.join(', ')}\n`);
  process.exitCode = 1;
}
