/** Of this Troupe. */
import { readFileSync } from 'node:fs';

export function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null || !('version' in parsed)) return '0.0.0';
  return String(parsed.version);
}
