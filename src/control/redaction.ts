/** What takes secrets out of all that is shown of a workspace: shapes, and the values that this process knows (E2). */
import { resolveConfig } from '../config/index.ts';
import { makeRedactor, type Redactor, secretsOfEnvironment } from '../events/index.ts';
import type { ControlDeps } from './deps.ts';
import { readText } from './files.ts';
import type { Places } from './places.ts';
import { readSources } from './settings.ts';

/** Of keys and headers of providers, the token of the socket, and variables that are named like secrets. Never throws for files. */
async function redactorOf(deps: ControlDeps, places: Places): Promise<Redactor> {
  const { sources } = await readSources(deps, places);
  const resolved = resolveConfig(sources);
  const providers = resolved.kind === 'ok' ? Object.values(resolved.config.secrets) : [];
  const fromFile = Object.entries(sources.envFile?.entries ?? {}).map(
    ([name, { value }]): [string, string] => [name, value],
  );
  const token = await readText(deps.files, places.token).catch(() => null);
  return makeRedactor([
    ...providers.flatMap(({ key, headers }) => [
      ...(key === null ? [] : [key]),
      ...Object.values(headers),
    ]),
    ...(token === null ? [] : [token.trim()]),
    ...secretsOfEnvironment(deps.env),
    ...secretsOfEnvironment(Object.fromEntries(fromFile)),
  ]);
}

/** Read once, when it is first needed. */
export function lazyRedactor(deps: ControlDeps, places: Places): () => Promise<Redactor> {
  let made: Promise<Redactor> | null = null;
  return () => {
    made ??= redactorOf(deps, places);
    return made;
  };
}
