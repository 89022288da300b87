/** From a model reference (`provider/model`) to the provider that serves it. */
import { type CallId, type Clock, EXIT, nearMatches, TroupeError } from '../kernel/index.ts';
import type { Provider } from '../protocol/index.ts';
import { formatScriptProblem, parseScript } from './parse-script.ts';
import { makeScriptedProvider } from './scripted.ts';

export interface ProviderDeps {
  readonly clock: Clock;
  readonly callId: () => CallId;
  /** Text of each script by model reference (`scripted/<path>`). */
  readonly scripts: Readonly<Record<string, string>>;
}

export interface ChosenProvider {
  readonly provider: Provider;
  /** Without the provider's name. */
  readonly model: string;
}

const PROVIDERS = ['scripted'];
const PLANNED = ['anthropic', 'openai', 'replay'];

/** Throws a `TroupeError` that the command line can show as it is (exit 2). */
export function providerFor(modelRef: string, deps: ProviderDeps): ChosenProvider {
  const slash = modelRef.indexOf('/');
  const name = slash < 0 ? modelRef : modelRef.slice(0, slash);
  const model = slash < 0 ? '' : modelRef.slice(slash + 1);
  if (!PROVIDERS.includes(name)) throw unknownProvider(modelRef, name);
  if (model === '') {
    throw new TroupeError({
      code: 'providers/no-model',
      message: `"${modelRef}" names no model: it is written provider/model`,
      hint: 'For a script: scripted/path/to/script.yaml, relative to the team file.',
      exit: EXIT.usage,
    });
  }
  const text = deps.scripts[modelRef];
  if (text === undefined) {
    throw new TroupeError({
      code: 'providers/no-script',
      message: `the script of "${modelRef}" was not found`,
      hint: 'The path is relative to the team file.',
      data: { model: modelRef },
      exit: EXIT.usage,
    });
  }
  const parsed = parseScript(text, model);
  if (!parsed.ok) {
    throw new TroupeError({
      code: 'providers/bad-script',
      message: parsed.problems.map((problem) => formatScriptProblem(model, problem)).join('\n'),
      hint: 'The format of scripts is described in docs/scripts.md.',
      exit: EXIT.usage,
    });
  }
  const { clock, callId } = deps;
  return { provider: makeScriptedProvider({ script: parsed.script, clock, callId }), model };
}

function unknownProvider(modelRef: string, name: string): TroupeError {
  const choices = PROVIDERS.map((known) => `${known}/…`).join(', ');
  const [near] = nearMatches(name, [...PROVIDERS, ...PLANNED]);
  const message = PLANNED.includes(name)
    ? `the provider "${name}" of "${modelRef}" is not available in this version`
    : `unknown provider "${name}" in "${modelRef}"`;
  const guess = near === undefined || near === name ? '' : `Did you mean "${near}"? `;
  return new TroupeError({
    code: PLANNED.includes(name) ? 'providers/not-available' : 'providers/unknown',
    message,
    hint: `${guess}Available: ${choices}`,
    data: { provider: name, available: PROVIDERS },
    exit: EXIT.usage,
  });
}
