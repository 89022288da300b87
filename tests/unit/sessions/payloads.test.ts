import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { BlobStore, INLINE_BYTES_MAX } from '../../../src/journal/index.ts';
import { asActorName, asCallId, asEnvelopeId } from '../../../src/kernel/index.ts';
import type { ContentBlock, SessionEntry } from '../../../src/protocol/index.ts';
import { NO_USAGE, payloadHead } from '../../../src/protocol/index.ts';
import {
  blockByReference,
  isLarge,
  mailByReference,
  payloadOf,
  wholeEntry,
} from '../../../src/sessions/index.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const encoder = new TextEncoder();

function store(files: MemoryFiles = new MemoryFiles()): BlobStore {
  return new BlobStore({ files, directory: '/runs/r1/blobs', hash });
}

function mail(text: string, ref: object = {}): SessionEntry {
  const names = { id: asEnvelopeId('env_1'), from: asActorName('user') };
  return { type: 'mail', items: [{ n: 1, ...names, type: 'chat.message', text, ...ref }] };
}

function answer(content: readonly ContentBlock[]): SessionEntry {
  return { type: 'answer', task: null, model: 'm', content, stop: 'end', usage: NO_USAGE };
}

test('M8: what is over 64 KiB in UTF-8 is large', () => {
  expect(isLarge('x'.repeat(INLINE_BYTES_MAX))).toBe(false);
  expect(isLarge('x'.repeat(INLINE_BYTES_MAX + 1))).toBe(true);
  expect(isLarge('é'.repeat(INLINE_BYTES_MAX / 2))).toBe(false);
  expect(isLarge('é'.repeat(INLINE_BYTES_MAX / 2 + 1))).toBe(true);
});

test('M8: a head is at most 1 KiB, cuts no character, says the size, and is its own head', () => {
  const text = `x${'€'.repeat(100_000)}`;
  const head = payloadHead(text, 300_001);
  expect(head).toBe(`x${'€'.repeat(341)}\n… (300001 bytes in all)`);
  expect(payloadHead(head, 300_001)).toBe(head);
});

test('L21: mail is a head and a reference in a record, and whole again from it', async () => {
  const blobs = store();
  const text = '\uFEFFbegin '.padEnd(INLINE_BYTES_MAX * 2, 'é€');
  const entry = mail(text, await blobs.put(encoder.encode(text)));
  const stored = mailByReference(entry);
  expect(JSON.stringify(stored).length).toBeLessThan(2000);
  expect(await wholeEntry(blobs, stored)).toEqual(entry);
  const small = mail('hello');
  expect(mailByReference(small)).toBe(small);
  expect(await wholeEntry(blobs, small)).toBe(small);
});

test('L21: so are the large blocks of an answer; in a call one still sees what was called with what', async () => {
  const blobs = store();
  const long = 'y'.repeat(INLINE_BYTES_MAX + 1);
  const call = (input: unknown): ContentBlock => ({
    type: 'call',
    id: asCallId('cal_1'),
    name: 'send_message',
    input,
  });
  const blocks = [
    { type: 'text' as const, text: long },
    call({ to: 'lead', text: long }),
    call({ many: Array.from({ length: 20_000 }, (_, at) => `part ${at}`) }),
  ];
  for (const block of blocks) {
    const payload = payloadOf(block) ?? '';
    const ref = await blobs.put(encoder.encode(payload));
    const stored = blockByReference(block, ref);
    expect(JSON.stringify(stored).length).toBeLessThan(2000);
    expect(await wholeEntry(blobs, answer([stored]))).toEqual(answer([block]));
  }
  expect(blockByReference(blocks[1]!, { blob: 'b', bytes: 9 })).toMatchObject({
    input: { to: 'lead' },
  });
  expect(payloadOf(call({ to: 'lead', text: 'hello' }))).toBeNull();
});

test('M8: what is missing or damaged is named in its place, after its head', async () => {
  const files = new MemoryFiles();
  const blobs = store(files);
  const text = 'begin '.padEnd(INLINE_BYTES_MAX * 2, '.');
  const ref = await blobs.put(encoder.encode(text));
  const stored = mailByReference(mail(text, ref));
  const textOf = async (): Promise<string> => {
    const whole = await wholeEntry(blobs, stored);
    return whole.type === 'mail' ? (whole.items[0]?.text ?? '') : '';
  };
  const handle = await files.open(`/runs/r1/blobs/${ref.blob}`, 'append');
  handle.write(encoder.encode('rot'));
  await handle.close();
  expect(await textOf()).toMatch(
    /^begin \.+\n.*bytes in all.*\n\[the rest cannot be read: .*damaged/,
  );
  await files.remove(`/runs/r1/blobs/${ref.blob}`);
  expect(await textOf()).toMatch(/^begin [^]*bytes in all[^]*cannot be read: .*is missing/);
  const call = {
    type: 'call',
    id: asCallId('c'),
    name: 'n',
    input: { to: 'lead' },
    ...ref,
  } as const;
  const lost = await wholeEntry(blobs, answer([call]));
  expect(JSON.stringify(lost)).toContain('is missing');
});
