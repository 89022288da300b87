/** A provider on one end, the model server on the other, and a clock that the test moves. */
import { type ConfigSources, parseConfig, resolveConfig } from '../../../src/config/index.ts';
import { asActorName, asCallId } from '../../../src/kernel/index.ts';
import type {
  ContentBlock,
  Message,
  ProviderEvent,
  ProviderRequest,
  ToolSpec,
} from '../../../src/protocol/index.ts';
import { type ChosenProvider, providerFor } from '../../../src/providers/index.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { ModelServer, type ModelServerOptions } from '../../support/model-server/server.ts';

export const KEY = 'sk-test-0123456789';

export interface LineOptions extends ModelServerOptions {
  /** Settings of the provider, as in the config file. */
  readonly config?: string;
  /** Of the whole config. */
  readonly prices?: string;
}

export interface Line {
  readonly server: ModelServer;
  readonly clock: VirtualClock;
  readonly chosen: ChosenProvider;
  readonly warnings: string[];
  /** All events of one stream. */
  ask(request?: Partial<ProviderRequest>, signal?: AbortSignal): Promise<ProviderEvent[]>;
}

export type Dialect = 'anthropic' | 'openai';
const MODELS: Readonly<Record<Dialect, string>> = {
  anthropic: 'anthropic/claude-sonnet-5-5',
  openai: 'openai/some-model',
};

/** For tests of one file: `open` in a test, `close` after each. */
export class Lines {
  readonly #open: ModelServer[] = [];

  async open(dialect: Dialect, options: LineOptions): Promise<Line> {
    const server = new ModelServer({ key: KEY, ...options });
    await server.listen();
    this.#open.push(server);
    const clock = new VirtualClock();
    const base = dialect === 'anthropic' ? server.origin : `${server.origin}/v1`;
    const yaml = `providers:\n  ${dialect}: { base_url: "${base}", api_key: ${KEY}, ${options.config ?? ''} }\n${options.prices ?? ''}`;
    const { models, secrets } = settingsOf(yaml);
    const warnings: string[] = [];
    let calls = 0;
    const chosen = providerFor(MODELS[dialect], {
      clock,
      callId: () => {
        calls += 1;
        return asCallId(`cal_${calls}`);
      },
      scripts: {},
      access: {
        settings: models,
        secrets,
        fetch: (input, init) => fetch(input, init),
        onWarn: (text) => warnings.push(text),
      },
    });
    const ask: Line['ask'] = async (request = {}, signal = new AbortController().signal) => {
      const events: ProviderEvent[] = [];
      const whole = makeRequest({ model: chosen.model, ...request });
      for await (const event of chosen.provider.stream(whole, signal)) events.push(event);
      return events;
    };
    return { server, clock, chosen, warnings, ask };
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((server) => server.close()));
  }
}

export function settingsOf(yaml: string, env: ConfigSources['env'] = {}): Settings {
  const parsed = parseConfig(yaml);
  if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed.problems));
  const outcome = resolveConfig({ env, userFile: { path: '/u', config: parsed.config } });
  if (outcome.kind !== 'ok') throw new Error(outcome.message);
  return outcome.config;
}

type Settings = Extract<ReturnType<typeof resolveConfig>, { kind: 'ok' }>['config'];

export const TOOLS: readonly ToolSpec[] = ['read_file', 'grep', 'list_tasks'].map((name) => ({
  name,
  description: `does ${name}`,
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
}));

export function makeRequest(parts: Partial<ProviderRequest> = {}): ProviderRequest {
  return {
    model: 'some-model',
    system: 'You are ada, a teammate of a team.',
    tools: TOOLS,
    messages: [user('hello')],
    maxTokens: 1000,
    actor: asActorName('ada'),
    profile: 'implementer',
    task: null,
    ...parts,
  };
}

export function user(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

export type End = Extract<ProviderEvent, { type: 'end' }>;
export type Failed = Extract<ProviderEvent, { type: 'error' }>;

export function endOf(events: readonly ProviderEvent[]): End {
  const last = events.at(-1);
  if (last?.type !== 'end') throw new Error(`no end: ${JSON.stringify(last)}`);
  return last;
}

export function failureOf(events: readonly ProviderEvent[]): Failed {
  const last = events.at(-1);
  if (last?.type !== 'error') throw new Error(`no error: ${JSON.stringify(last)}`);
  return last;
}

/** The answer as it stands in the next request, with a result for each of its calls. */
export function afterwards(end: End, results = 'done'): Message[] {
  const calls = end.content.flatMap((block) => (block.type === 'call' ? [block] : []));
  const answer: Message = {
    role: 'assistant',
    content: end.content,
    ...(end.meta === undefined ? {} : { meta: end.meta }),
  };
  const content = calls.map((call) => ({
    type: 'result' as const,
    call: call.id,
    tool: call.name,
    ok: true,
    text: results,
  }));
  return [answer, content.length > 0 ? { role: 'user', content } : user('go on')];
}

export function brief(content: readonly ContentBlock[]): unknown[] {
  return content.map((block) =>
    block.type === 'text' ? block.text : { [block.name]: block.input },
  );
}
