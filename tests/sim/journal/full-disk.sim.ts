/** A disk that fills under a run: what was begun is kept, new work is refused, the run stops in order and goes on later. */
import { describe, expect, test } from 'vitest';
import type { ActorPort, ActorRun } from '../../../src/actors/index.ts';
import { INLINE_BYTES_MAX } from '../../../src/journal/index.ts';
import { asCallId } from '../../../src/kernel/index.ts';
import {
  type ActorReply,
  type AnswerStep,
  type Envelope,
  mailItem,
  NO_USAGE,
  type StoredRunRecord,
} from '../../../src/protocol/index.ts';
import { FULL_GRACE_MS } from '../../../src/supervisor/limits.ts';
import type { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { newDisk } from './explorer.ts';
import { readAll } from './mail-explorer.ts';
import type { Fact } from './mail-facts.ts';
import { MailWorld } from './mail-world.ts';
import { faithful } from './mutants.ts';

const CALL = asCallId('cal_1');
const letter = (id: string, to = 'bo') => ({ id, to, text: `keep ${id}`, lane: 'normal' }) as const;

const answerOf = (mail: readonly Envelope[], text: string, call: boolean): AnswerStep => ({
  type: 'answer',
  took: mail.map(({ n }) => n),
  entries: [
    { type: 'mail', items: mail.map(mailItem) },
    {
      type: 'answer',
      task: null,
      model: 'sim-1',
      content: [
        { type: 'text', text },
        ...(call ? [{ type: 'call' as const, id: CALL, name: 'send_message', input: {} }] : []),
      ],
      stop: call ? 'calls' : 'end',
      usage: NO_USAGE,
    },
  ],
  usage: NO_USAGE,
});

interface Paid {
  readonly text: string;
  readonly replies: ActorReply[];
  /** Resolves when the model is asked. */
  readonly asked: Promise<void>;
  readonly run: ActorRun;
  /** The model answers now. */
  readonly answer: () => void;
}

/** `ada` asks a model that answers when it is told to, then sends what it says to bo; the others take in what they get. */
function paid(text = 'dear words'): Paid {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let ask: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const replies: ActorReply[] = [];
  const think = async (
    port: ActorPort,
    mail: readonly Envelope[],
    over: Promise<never>,
  ): Promise<void> => {
    const request: ActorPort['request'] = (what) => Promise.race([port.request(what), over]);
    port.request({ type: 'live', event: 'thinking', data: '' }).catch(() => undefined);
    ask();
    await Promise.race([answered, over]);
    replies.push(await request(answerOf(mail, text, true)));
    const input = { to: 'bo', text: 'from ada' };
    replies.push(await request({ type: 'act', call: CALL, tool: 'send_message', input }));
  };
  const run: ActorRun = async (start, port, signal) => {
    const over = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')));
    });
    over.catch(() => undefined);
    for (;;) {
      await port.waitForMail(signal);
      const mail = port.takeMail();
      if (start.name === 'ada' && start.incarnation === 1) await think(port, mail, over);
      else await port.request(answerOf(mail, 'heard', false));
      await port.request({ type: 'idle', why: 'end' });
    }
  };
  return { text, replies, asked, run, answer };
}

async function worldWith(disk: MemoryFiles, run: ActorRun, reserveBytes = 64_000) {
  const facts: Fact[] = [];
  const options = { disk, seed: 'full', mutate: faithful, facts, run, reserveBytes };
  const world = await MailWorld.open(options);
  await world.begin();
  return { world, facts };
}

const outcomes = (facts: readonly Fact[]) =>
  facts.flatMap((fact) =>
    fact.type === 'accepted' || fact.type === 'refused'
      ? [`${fact.id} ${fact.type === 'refused' ? fact.code : 'accepted'}`]
      : [],
  );

const runWords = (records: readonly unknown[]) =>
  records.flatMap((record) => (record as StoredRunRecord).run ?? []);

describe('C8 J10 S7: a full disk', () => {
  test('refuses new mail from its first sign on, and keeps the model answer that is under way', async () => {
    const disk = await newDisk('full');
    const model = paid();
    const { world, facts } = await worldWith(disk, model.run);
    await world.offer(letter('a', 'ada'));
    await model.asked;
    disk.spaceLeft = 40;
    await world.offer(letter('first-sign'));
    await world.settle();
    await world.offer(letter('b'));
    expect(world.isOver).toBe(false);
    model.answer();
    await expect(world.finished).rejects.toMatchObject({ code: 'journal/full', exit: 75 });
    expect(outcomes(facts)).toEqual(['a accepted', 'first-sign accepted', 'b journal/full']);
    const records = await readAll(disk);
    expect(JSON.stringify(records)).toContain(model.text);
    expect(JSON.stringify(records)).toContain('Nothing was done: No space is left');
    // It is told of its answer; of the call's end in the next term, since it would ask its model again.
    expect(model.replies.map(({ type }) => type)).toEqual(['committed']);
    expect(runWords(records).at(-1)).toMatchObject({
      type: 'run.interrupted',
      text: 'stopped: no space is left on the disk',
    });

    disk.spaceLeft = null;
    const next = await worldWith(disk, paid().run);
    await next.world.offer(letter('b'));
    await next.world.settle();
    await next.world.stop();
    expect(outcomes(next.facts)).toEqual(['b accepted']);
    expect(next.world.state.mail.boxes.get('bo')?.last).toBe(2);
  });

  test('M8: a large answer is kept inline when no file can be made for it', async () => {
    const disk = await newDisk('full');
    const model = paid(`dear ${'x'.repeat(INLINE_BYTES_MAX)} end`);
    const { world, facts } = await worldWith(disk, model.run, 300_000);
    await world.offer(letter('a', 'ada'));
    await model.asked;
    disk.spaceLeft = 200;
    model.answer();
    await expect(world.finished).rejects.toMatchObject({ code: 'journal/full' });
    expect(JSON.stringify(await readAll(disk))).toContain(model.text);
    expect(outcomes(facts)).toEqual(['a accepted']);
  });

  test('M8: a large letter that finds no room is refused, and is the first sign', async () => {
    const disk = await newDisk('full');
    const { world, facts } = await worldWith(disk, paid().run);
    disk.spaceLeft = 1000;
    await world.offer({ ...letter('a'), text: 'x'.repeat(INLINE_BYTES_MAX + 1) });
    await expect(world.finished).rejects.toMatchObject({ code: 'journal/full' });
    expect(outcomes(facts)).toEqual(['a journal/full']);
  });

  test('waits for an answer no longer than the grace', async () => {
    const disk = await newDisk('full');
    const model = paid();
    const { world } = await worldWith(disk, model.run);
    await world.offer(letter('a', 'ada'));
    await model.asked;
    disk.spaceLeft = 40;
    await world.offer(letter('b'));
    await world.settle();
    await world.clock.advance(FULL_GRACE_MS - 1);
    expect(world.isOver).toBe(false);
    await world.clock.advance(1);
    await world.settle();
    model.answer();
    await expect(world.finished).rejects.toMatchObject({ code: 'journal/full' });
    expect(runWords(await readAll(disk)).at(-1)).toMatchObject({ type: 'run.interrupted' });
  });

  test('that is still full when the run is taken up again: nothing begins, what is on record stays', async () => {
    const disk = await newDisk('full');
    const { world } = await worldWith(disk, paid().run);
    disk.spaceLeft = 40;
    await world.offer(letter('a'));
    await world.finished.catch(() => undefined);
    const before = await readAll(disk);
    disk.spaceLeft = 400;
    const { world: next } = await worldWith(disk, paid().run);
    await expect(next.finished).rejects.toMatchObject({ code: 'journal/full', exit: 75 });
    expect(await readAll(disk)).toEqual(before);
  });
});
