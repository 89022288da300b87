/** From a model reference (`provider/model`) to the provider that serves it. */
import { type ModelSettings, type ProviderSecret, priceOf } from '../config/index.ts';
import { type CallId, type Clock, EXIT, TroupeError } from '../kernel/index.ts';
import type { Provider } from '../protocol/index.ts';
import { makeAnthropicProvider } from './anthropic/provider.ts';
import { checkModel, type ModelProblem, splitRef } from './check.ts';
import type { Fetch } from './http.ts';
import { makeOpenAiProvider } from './openai/provider.ts';
import { formatScriptProblem, parseScript } from './parse-script.ts';
import { makeScriptedProvider } from './scripted.ts';
import { cleaner, sealProvider } from './sealed.ts';

/** What the providers that reach out need. `secrets` by the provider's name. */
export interface ModelAccess {
  readonly settings: ModelSettings;
  readonly secrets: Readonly<Record<string, ProviderSecret>>;
  readonly fetch: Fetch;
  /** For stderr. */
  readonly onWarn: (text: string) => void;
}

export interface ProviderDeps {
  readonly clock: Clock;
  readonly callId: () => CallId;
  /** Text of each script by model reference (`scripted/<path>`). */
  readonly scripts: Readonly<Record<string, string>>;
  /** Left out: only the scripted provider is there. */
  readonly access?: ModelAccess | undefined;
}

export interface ChosenProvider {
  readonly provider: Provider;
  /** Without the provider's name. */
  readonly model: string;
}

const NOTHING: ModelSettings = { providers: {}, prices: {}, windows: {}, compactAt: 1 };
const NO_SECRET: ProviderSecret = { key: null, headers: {} };

/** Throws a `TroupeError` that the command line can show as it is (exit 2). */
export function providerFor(modelRef: string, deps: ProviderDeps): ChosenProvider {
  const settings = deps.access?.settings ?? NOTHING;
  const problem = checkModel(modelRef, settings);
  if (problem !== null) throw modelError(problem);
  const { provider: name, model } = splitRef(modelRef);
  if (name === 'replay') {
    const message = `"${modelRef}" is a recording, which is played by the thread of its actor`;
    throw new TroupeError({ code: 'providers/recording', message, exit: EXIT.usage });
  }
  const own = settings.providers[name];
  if (deps.access === undefined || own === undefined) {
    return { provider: scripted(modelRef, model, deps), model };
  }
  const { access, clock, callId } = deps;
  const secret = access.secrets[name] ?? NO_SECRET;
  const clean = cleaner(secret);
  const common = {
    settings: own,
    secret,
    clock,
    callId,
    fetch: access.fetch,
    priceOf: (one: string) => priceOf(settings.prices, `${name}/${one}`),
  };
  const provider =
    own.kind === 'anthropic'
      ? makeAnthropicProvider({ ...common, onWarn: (text) => access.onWarn(clean(text)) })
      : makeOpenAiProvider(common);
  return { provider: sealProvider(provider, secret), model };
}

function modelError(problem: ModelProblem): TroupeError {
  return new TroupeError({ ...problem, exit: EXIT.usage });
}

function scripted(modelRef: string, path: string, deps: ProviderDeps): Provider {
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
  const parsed = parseScript(text, path);
  if (!parsed.ok) {
    throw new TroupeError({
      code: 'providers/bad-script',
      message: parsed.problems.map((problem) => formatScriptProblem(path, problem)).join('\n'),
      hint: 'The format of scripts is described in docs/scripts.md.',
      exit: EXIT.usage,
    });
  }
  const { clock, callId } = deps;
  return makeScriptedProvider({ script: parsed.script, clock, callId });
}
