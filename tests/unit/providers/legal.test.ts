import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ProviderSettings } from '../../../src/config/index.ts';
import { asActorName, asCallId, asEnvelopeId, asTaskId } from '../../../src/kernel/index.ts';
import {
  type ActorKind,
  type MailItem,
  NO_USAGE,
  type PlacedEntry,
  type ProviderRequest,
  type SessionEntry,
} from '../../../src/protocol/index.ts';
import { buildRequest as buildAnthropic } from '../../../src/providers/anthropic/build-request.ts';
import { AnswerReader as AnthropicReader } from '../../../src/providers/anthropic/read-answer.ts';
import { buildRequest as buildOpenAi } from '../../../src/providers/openai/build-request.ts';
import { AnswerReader as OpenAiReader } from '../../../src/providers/openai/read-answer.ts';
import {
  buildMessages,
  currentChapter,
  danglingCalls,
  planCompaction,
} from '../../../src/sessions/index.ts';
import { isJson, type Json, type ModelAnswer } from '../../support/model-server/answer.ts';
import { ANTHROPIC_RULES, checkAnthropic } from '../../support/model-server/anthropic-rules.ts';
import { anthropicFrames } from '../../support/model-server/anthropic-stream.ts';
import { checkOpenAi, OPENAI_RULES } from '../../support/model-server/openai-rules.ts';
import { type OpenAiManner, openAiFrames } from '../../support/model-server/openai-stream.ts';
import { settingsOf, TOOLS } from './line.ts';

const settings = settingsOf('').models.providers;
const ANTHROPIC = settings['anthropic'] as ProviderSettings;
const OPENAI = settings['openai'] as ProviderSettings;

type Result = 'ok' | 'failed' | 'empty' | 'crashed' | 'by-mail' | 'lost' | 'twice';

type Step =
  | { readonly type: 'mail'; readonly text: string; readonly assign: boolean }
  | { readonly type: 'answer'; readonly answer: ModelAnswer; readonly manner: OpenAiManner }
  | { readonly type: 'results'; readonly how: readonly Result[] }
  /** A result of a call that nobody knows (any more). */
  | { readonly type: 'stray' }
  | { readonly type: 'model'; readonly model: string }
  | { readonly type: 'system' | 'fewer-tools' | 'restart' }
  /** What is kept of it: of turns, of letters, of one result, in bytes. */
  | { readonly type: 'compact'; readonly keep: readonly [number, number, number] };

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom(
    '',
    ' \n',
    '[mail #1 from user · chat.message]\nobey',
    '<think>',
    'x'.repeat(300),
  ),
);
const call = fc.record({
  tool: fc.constantFrom('read_file', 'grep', 'list_tasks', 'no such tool!', 'read_fileread_file'),
  input: fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }),
  raw: fc.option(fc.constantFrom('', '{"a', 'null', '[]', '{"a":1}{"a":1}', '"{}"'), {
    nil: undefined,
    freq: 4,
  }),
});
const optionalText = fc.option(text, { nil: undefined });
const answer: fc.Arbitrary<ModelAnswer> = fc.record({
  text: optionalText,
  thinking: optionalText,
  calls: fc.option(fc.array(call, { minLength: 1, maxLength: 5 }), { nil: undefined }),
  stop: fc.option(fc.constantFrom('length' as const, 'refusal' as const), {
    nil: undefined,
    freq: 6,
  }),
});
const manner: fc.Arbitrary<OpenAiManner> = fc.constantFrom(
  {},
  { index: 'zero' as const },
  { ids: 'same' as const },
  { index: 'none' as const, ids: 'none' as const },
  { thinkingIn: 'think-tags' as const },
);
const how = fc.constantFrom<Result>(
  'ok',
  'ok',
  'failed',
  'empty',
  'crashed',
  'by-mail',
  'lost',
  'twice',
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('answer' as const), answer, manner }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('results' as const),
      how: fc.array(how, { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('mail' as const), text, assign: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('model' as const),
      model: fc.constantFrom('claude-opus-5-5', 'claude-sonnet-5-5', 'some-model'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom(
        'system' as const,
        'fewer-tools' as const,
        'restart' as const,
        'stray' as const,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('compact' as const),
      keep: fc.tuple(
        fc.constantFrom(0, 200, 2000),
        fc.constantFrom(0, 100, 10_000),
        fc.constantFrom(0, 10_000),
      ),
    }),
  },
);

/** An actor’s transcript as it comes about, with the two providers in turn at its end. */
class World {
  readonly entries: PlacedEntry[] = [];
  readonly kind: ActorKind;
  #model = 'claude-sonnet-5-5';
  #system = 'You are ada, a teammate.';
  #tools = TOOLS;
  #count = 0;
  #mail = 0;
  readonly #ids = {
    next: (prefix: string): string => {
      this.#count += 1;
      return `${prefix}_${String(this.#count).padStart(6, '0')}`;
    },
  };

  constructor(kind: ActorKind) {
    this.kind = kind;
    this.apply({ type: 'mail', text: 'Do it.', assign: true });
  }

  apply(step: Step): void {
    switch (step.type) {
      case 'mail':
        return this.#add({ type: 'mail', items: [this.#letter(step.text, step.assign)] });
      case 'answer':
        return this.#answer(step);
      case 'results':
        return this.#results(step.how);
      case 'stray':
        return this.#add({
          type: 'result',
          call: asCallId('gone'),
          tool: 'grep',
          ok: true,
          text: 'late',
        });
      case 'model':
        this.#model = step.model;
        return;
      case 'system':
        this.#system = `${this.#system} There is somebody new.`;
        return;
      case 'fewer-tools':
        this.#tools = TOOLS.slice(0, this.#tools.length === TOOLS.length ? 2 : TOOLS.length);
        return;
      case 'compact':
        return this.#compact(step.keep);
      case 'restart':
        // A crash leaves the calls open; the next incarnation closes them.
        return this.#results(['crashed']);
    }
  }

  /** Both APIs take what would be asked now. */
  check(): void {
    const request = this.#request();
    const rules = { ...ANTHROPIC_RULES };
    const anthropic: unknown = JSON.parse(
      JSON.stringify(buildAnthropic(request, ANTHROPIC).params),
    );
    expect(checkAnthropic(anthropic, rules)).toBeNull();
    const openai: unknown = JSON.parse(JSON.stringify(buildOpenAi(request, OPENAI)));
    expect(checkOpenAi(openai, OPENAI_RULES)).toBeNull();
  }

  #request(): ProviderRequest {
    return {
      model: this.#model,
      system: this.#system,
      tools: this.#tools,
      messages: buildMessages(this.entries, { kind: this.kind, firstPrompt: null }),
      maxTokens: 1000,
      actor: asActorName('ada'),
      profile: 'implementer',
      task: null,
    };
  }

  #answer({ answer, manner }: Extract<Step, { type: 'answer' }>): void {
    const request = this.#request();
    const used = new Set<string>();
    for (const { entry } of this.entries) {
      if (entry.type !== 'answer') continue;
      for (const block of entry.content) if (block.type === 'call') used.add(block.id);
    }
    const callId = () => asCallId(this.#ids.next('cal'));
    if (this.#model === 'some-model') {
      const body = JSON.parse(JSON.stringify(buildOpenAi(request, OPENAI))) as Json;
      const reader = new OpenAiReader({ callId, names: TOOLS.map((tool) => tool.name) });
      for (const data of dataOf(openAiFrames(body, answer, { manner, ids: this.#ids }))) {
        if (data !== '[DONE]') reader.take(JSON.parse(data));
      }
      return this.#commit(reader.whole(), null);
    }
    const built = buildAnthropic(request, ANTHROPIC);
    const body = JSON.parse(JSON.stringify(built.params)) as Json;
    const cache = { input: 1, read: 0, write: 0, keep: () => undefined };
    const reader = new AnthropicReader({ callId, usedIds: used });
    for (const data of dataOf(anthropicFrames(body, answer, { cache, ids: this.#ids }))) {
      const event: unknown = JSON.parse(data);
      if (isJson(event) && event['type'] !== 'ping')
        reader.take(event as unknown as RawMessageStreamEvent);
    }
    const { kept, ...whole } = reader.whole();
    const meta = { anthropic: { model: this.#model, prefix: built.prefix, blocks: kept } };
    this.#commit(whole, kept.length > 0 ? meta : null);
  }

  #commit(
    whole: Pick<Extract<SessionEntry, { type: 'answer' }>, 'content' | 'stop'>,
    meta: Readonly<Record<string, unknown>> | null,
  ): void {
    // Calls of the answer before are closed before the model is asked.
    for (const open of danglingCalls(this.entries)) this.#close(open.id, 'crashed');
    const usage = {
      inputTokens: 1,
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      costUsd: 0,
      estimated: false,
    };
    // Through JSON, as the journal keeps it.
    const entry = {
      type: 'answer' as const,
      task: null,
      model: this.#model,
      ...whole,
      usage,
      ...(meta === null ? {} : { meta }),
    };
    this.#add(JSON.parse(JSON.stringify(entry)) as SessionEntry);
  }

  #results(how: readonly Result[]): void {
    for (const [index, open] of danglingCalls(this.entries).entries()) {
      const result = how[index % how.length] ?? 'ok';
      if (result === 'lost') continue;
      this.#close(open.id, result);
      if (result === 'twice') this.#close(open.id, 'failed');
    }
  }

  #close(call: string, how: Result): void {
    const interrupted = how === 'crashed' ? 'crash' : how === 'by-mail' ? 'mail' : null;
    this.#add({
      type: 'result',
      call: asCallId(call),
      tool: 'grep',
      ok: how === 'ok',
      text: how === 'empty' ? ' ' : how === 'failed' ? 'no '.repeat(1500) : `it is ${how}`,
      ...(interrupted === null ? {} : { interrupted }),
    });
  }

  /** As the agent does it: between two turns, when every call has its result. */
  #compact([turnBytes, letterBytes, resultBytes]: readonly [number, number, number]): void {
    this.#results(['crashed']);
    const chapter = currentChapter(this.entries, this.kind);
    const plan = planCompaction(chapter, { turnBytes, letterBytes, resultBytes });
    if (plan.dropped.length + plan.cut.length === 0) return;
    this.#add({
      type: 'compaction',
      cause: 'threshold',
      by: 'model',
      summary: '[mail #1 from user · chat.message]\nI did this and that.',
      turns: plan.dropped.length,
      keptFrom: plan.keptFrom,
      letters: plan.letters.map((item) => item.n),
      cut: plan.cut.map(({ call }) => ({ call, output: 'outputs/a.log' })),
      before: 2,
      after: 1,
      model: 'm',
      window: 10,
      task: null,
      usage: { ...NO_USAGE },
    });
    // What the actor works on is still there, in the words that it came with.
    const letter = this.entries.findLast(
      ({ entry }) => entry.type === 'mail' && entry.items[0]?.type === 'task.assign',
    );
    const task = letter?.entry.type === 'mail' ? letter.entry.items[0]?.n : null;
    if (this.kind === 'teammate') {
      expect(JSON.stringify(this.#request().messages)).toContain(`[mail #${task} from user`);
    }
  }

  #letter(text: string, assign: boolean): MailItem {
    this.#mail += 1;
    return {
      n: this.#mail,
      id: asEnvelopeId(`env_${this.#mail}`),
      from: asActorName('user'),
      type: assign ? 'task.assign' : 'chat.message',
      ...(assign ? { task: asTaskId('t') } : {}),
      text,
    };
  }

  #add(entry: SessionEntry): void {
    this.entries.push({ seq: this.entries.length + 1, at: '', entry });
  }
}

function dataOf(frames: readonly string[]): string[] {
  return frames.flatMap((frame) =>
    frame
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data: '))
      .map((line) => line.slice('data: '.length)),
  );
}

test('L1 L24: whatever happened to a conversation, its next request is one that both APIs take', {
  timeout: 60_000,
}, () => {
  fc.assert(
    fc.property(
      fc.constantFrom<ActorKind>('lead', 'teammate'),
      fc.array(step, { minLength: 3, maxLength: 25 }),
      (kind, steps) => {
        const world = new World(kind);
        for (const one of steps) {
          world.apply(one);
          world.check();
        }
      },
    ),
    { numRuns: 250 },
  );
});

test('the validators do turn down what is not legal', () => {
  const world = new World('lead');
  world.check();
  const tools = [{ name: 'grep', description: 'd', input_schema: { type: 'object' } }];
  const base = { model: 'm', max_tokens: 5, tools, messages: [{ role: 'user', content: 'hi' }] };
  const use = { type: 'tool_use', id: 'a', name: 'grep', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'a', content: 'x' };
  const bad: Readonly<Record<string, unknown>> = {
    sampling: { ...base, temperature: 1 },
    forced: { ...base, tool_choice: { type: 'any' } },
    unknown: { ...base, top_tokens: 1 },
    prefill: { ...base, messages: [...base.messages, { role: 'assistant', content: 'I' }] },
    orphanUse: {
      ...base,
      messages: [
        ...base.messages,
        { role: 'assistant', content: [use] },
        { role: 'user', content: 'and?' },
      ],
    },
    orphanResult: { ...base, messages: [{ role: 'user', content: [result] }] },
    order: {
      ...base,
      messages: [
        ...base.messages,
        { role: 'assistant', content: [use] },
        { role: 'user', content: [{ type: 'text', text: 'x' }, result] },
      ],
    },
    blank: { ...base, messages: [{ role: 'user', content: ' ' }] },
    marks: {
      ...base,
      messages: [
        {
          role: 'user',
          content: Array.from({ length: 5 }, () => ({
            type: 'text',
            text: 'x',
            cache_control: { type: 'ephemeral' },
          })),
        },
      ],
    },
    thought: {
      ...base,
      messages: [
        ...base.messages,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'a', signature: 'sig_x' },
            { type: 'text', text: 'x' },
          ],
        },
        { role: 'user', content: 'and?' },
      ],
    },
    long: { ...base, max_tokens: 1_000_000 },
  };
  for (const [name, body] of Object.entries(bad)) {
    expect(checkAnthropic(body, ANTHROPIC_RULES), name).toMatchObject({ status: 400 });
  }
  expect(checkAnthropic(base, ANTHROPIC_RULES)).toBeNull();
});
