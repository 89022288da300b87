/**
 * Whether a model can be had, and whether it has a price: pure, over the settings alone, so that what can be known to
 * fail is told before anything starts.
 */
import { type ModelSettings, priceOf } from '../config/index.ts';
import { nearMatches } from '../kernel/index.ts';

export interface ModelProblem {
  readonly code:
    | 'providers/unknown'
    | 'providers/no-model'
    | 'providers/blocked'
    | 'providers/no-key';
  readonly message: string;
  readonly hint: string;
}

/** Names that are no model API, and what becomes of them. */
const OWN = ['scripted', 'replay'];

/** Null: it can be had, as far as the settings tell. Scripts are checked where they are read. */
export function checkModel(ref: string, settings: ModelSettings): ModelProblem | null {
  const { provider, model } = splitRef(ref);
  const found = Object.hasOwn(settings.providers, provider)
    ? settings.providers[provider]
    : undefined;
  if (!OWN.includes(provider) && found === undefined) {
    return unknownProvider(ref, provider, settings);
  }
  if (model === '') {
    return {
      code: 'providers/no-model',
      message: `"${ref}" names no model: it is written provider/model`,
      hint:
        provider === 'scripted'
          ? 'For a script: scripted/path/to/script.yaml, relative to the team file.'
          : provider === 'replay'
            ? 'For a recorded run: replay/RUN (`troupe runs` lists them), or replay/path/to/cassette.jsonl.'
            : `For example ${EXAMPLE[found?.kind ?? 'openai']}.`,
    };
  }
  if (found === undefined) return null;
  if (found.blocked !== null) {
    return {
      code: 'providers/blocked',
      message: `"${ref}" can not be used: ${found.blocked}`,
      hint: 'Say it in your own config, or in variables of your environment (docs/models.md).',
    };
  }
  if (found.keyNeeded && found.keyOrigin === null) {
    return {
      code: 'providers/no-key',
      message: `"${ref}" needs a key, and there is none`,
      hint: `Set ${found.keyVariables.toReversed().join(' or ')}, or providers.${provider}.api_key in your own config (docs/models.md).`,
    };
  }
  return null;
}

/** Models of these for which nobody knows a price: a budget in money can not be kept with them. */
function unpricedModels(refs: readonly string[], settings: ModelSettings): string[] {
  return [...new Set(refs)].filter(
    (ref) => !OWN.includes(splitRef(ref).provider) && priceOf(settings.prices, ref) === null,
  );
}

/** Null: a budget of this kind can be kept with these models. */
export function checkBudget(
  budget: { readonly usd: number | null },
  refs: readonly string[],
  settings: ModelSettings,
): { readonly code: 'providers/no-price'; readonly message: string; readonly hint: string } | null {
  if (budget.usd === null) return null;
  const unpriced = unpricedModels(refs, settings);
  if (unpriced.length === 0) return null;
  const names = unpriced.map((ref) => `"${ref}"`).join(', ');
  return {
    code: 'providers/no-price',
    message: `the budget is in dollars, and nobody knows the price of ${names}`,
    hint: `Write it into the config, in dollars per million tokens: prices: { "${unpriced[0] ?? ''}": { input: 2, output: 10 } }. Or use a budget of tokens.`,
  };
}

export function splitRef(ref: string): { readonly provider: string; readonly model: string } {
  const slash = ref.indexOf('/');
  if (slash < 0) return { provider: ref, model: '' };
  return { provider: ref.slice(0, slash), model: ref.slice(slash + 1) };
}

const EXAMPLE = { anthropic: 'anthropic/claude-sonnet-5-5', openai: 'ollama/qwen3:8b' } as const;

function unknownProvider(ref: string, name: string, settings: ModelSettings): ModelProblem {
  const known = [...OWN, ...Object.keys(settings.providers)];
  const [near] = nearMatches(name, known);
  const guess = near === undefined ? '' : `Did you mean "${near}"? `;
  const available = known.map((one) => `${one}/…`).join(', ');
  return {
    code: 'providers/unknown',
    message: `unknown provider "${name}" in "${ref}"`,
    hint: `${guess}Available: ${available}. Others are named under \`providers\` in the config.`,
  };
}
