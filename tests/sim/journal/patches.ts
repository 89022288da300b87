/**
 * Faults that no port can show: the source is changed at one place, and the proof that must notice it runs on the changed
 * copy. A patch whose anchor is gone or no longer unique is an error, so that no mutant passes for want of a change.
 */

export interface Edit {
  readonly file: string;
  readonly anchor: string;
  readonly instead: string;
}

export interface Patch {
  readonly edits: readonly Edit[];
  /** Which proof must break, and what it must say. */
  readonly proof: 'journal' | 'mail' | 'rot';
  readonly says: RegExp;
}

const one = (file: string, anchor: string, instead: string): readonly Edit[] => [
  { file, anchor, instead },
];

export const patches: Readonly<Record<string, Patch>> = {
  'no chain': {
    edits: one('src/journal/crc32.ts', 'let crc = ~seed;', 'let crc = ~0;'),
    proof: 'rot',
    says: /another one|no gap names it/,
  },
  'watermark off by one, above': {
    edits: one(
      'src/journal/writer.ts',
      'durable: this.#durableSeq }',
      'durable: this.#durableSeq + 1 }',
    ),
    proof: 'journal',
    says: /^crash .*C1: record \d+ calls \d+ durable|C1: gap/,
  },
  'watermark off by one, below': {
    edits: one(
      'src/journal/writer.ts',
      'durable: this.#durableSeq }',
      'durable: Math.max(0, this.#durableSeq - 1) }',
    ),
    proof: 'rot',
    says: /J5: record \d+ is gone/,
  },
  'quarantine drops a good record': {
    edits: one(
      'src/journal/scan.ts',
      "if (item.kind === 'record') this.#sink.record(item.view);",
      "if (item.kind === 'record') given += 0;",
    ),
    proof: 'rot',
    says: /J5: record \d+ is gone/,
  },
  'a failed sync tried again': {
    edits: one(
      'src/journal/writer.ts',
      "      this.#failStop('fdatasync', error);\n      return false;",
      '      await this.#tail.sync(false);\n      return true;',
    ),
    proof: 'mail',
    says: /C7: /,
  },
  // Each half alone does no harm: a snapshot waits for its record, and is not used when the record is not there.
  'snapshot before sync': {
    edits: [
      {
        file: 'src/journal/writer.ts',
        anchor: `      await waiting.durable;
      if (seq > this.#durableSeq) await this.flush();
      if (waiting.place !== null) return waiting.place;
    }
    if (seq > this.#durableSeq) await this.flush();
`,
        instead: `      while (seq > this.#writtenSeq) await Promise.resolve();
    }
`,
      },
      {
        file: 'src/journal/resume.ts',
        anchor: "if (name === file && !found.fits) return 'its record is not where it says';",
        instead: '',
      },
    ],
    proof: 'journal',
    says: /C1: |C5: |J13: |after recovery|recovery failed/,
  },
  'compacted before sync': {
    edits: one('src/journal/atomic.ts', 'await handle.datasync();', 'await Promise.resolve();'),
    proof: 'journal',
    says: /C1: |after recovery|recovery failed/,
  },
  'a full disk leaves half a batch': {
    edits: one(
      'src/journal/segment.ts',
      'await this.#handle.truncate(this.#size);',
      'await Promise.resolve();',
    ),
    proof: 'journal',
    says: /C1: |after recovery|recovery failed|while it worked/,
  },
  'acts before the record is durable': {
    edits: one(
      'src/supervisor/loop.ts',
      'head.seq > this.durableSeq)',
      'head.seq > this.state.lastSeq)',
    ),
    proof: 'mail',
    says: /C1: the accepted letter|C3: |C4: /,
  },
  'seen before the step is committed': {
    edits: one(
      'src/supervisor/decide/requests.ts',
      'markDelivered(state.mail, actor.name, request.n);',
      "draft.about('step', actor).step({ entries: [], took: request.n });",
    ),
    proof: 'mail',
    says: /C4: .* is seen without an answer/,
  },
  'dedup window lost': {
    edits: one(
      'src/mailbox/dedup.ts',
      'if (window === undefined) return false;\n  const back',
      'if (window !== null) return false;\n  const back',
    ),
    proof: 'mail',
    says: /C2: .* had a second effect/,
  },
  'letters from outside forgotten': {
    edits: one(
      'src/mailbox/apply.ts',
      'if (mail.from === USER) noteId(state.outsideIds, mail.id);',
      '',
    ),
    proof: 'mail',
    says: /C2: .* is recorded twice/,
  },
  'fence ignored': {
    edits: one(
      'src/supervisor/decide/fence.ts',
      'return actor?.incarnation === of.incarnation && actor.epoch === of.epoch;',
      'return actor !== undefined;',
    ),
    proof: 'mail',
    says: /C4: \S+ \d+ lives, but sim-\d+ was recorded|C4: .* taken in twice/,
  },
  'mail to the stopped vanishes': {
    edits: one(
      'src/supervisor/decide/mail.ts',
      "draft.dead(sent.to, [{ n, id: sent.id, what: 'dead', reason }]);",
      '',
    ),
    proof: 'mail',
    says: /C6: |C4: .* never taken in/,
  },
  'a cut turn is not gone on with': {
    edits: one(
      'src/supervisor/decide/run.ts',
      'return state.midTurn.has(actor.name) && !state.claims.has(actor.name);',
      'return false;',
    ),
    proof: 'mail',
    says: /C4: .* was never forwarded/,
  },
};
