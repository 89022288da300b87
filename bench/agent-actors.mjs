/** Actors in their own threads as the product starts them, behind a supervisor that keeps nothing and grants everything. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ThreadHost } from '../dist/actors/host/thread.js';
import { toolsForKind } from '../dist/tools/catalog.js';

const ENTRY = new URL('../dist/threads/actor.js', import.meta.url);

/** `baseUrl` null: nobody asks a model. `onLive` is told each fragment of an answer. */
export class Actors {
  #host;
  #folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  #all = new Map();
  #onLive;
  tools = toolsForKind('lead', { spawn: true });

  constructor({ baseUrl, onLive = () => {} }) {
    this.#onLive = onLive;
    const settings = {
      name: 'bench',
      kind: 'anthropic',
      baseUrl: baseUrl ?? 'http://127.0.0.1:1',
      baseUrlOrigin: 'bench',
      keyOrigin: 'bench',
      keyNeeded: false,
      keyVariables: [],
      blocked: null,
      auth: 'bearer',
      version: null,
      cache: true,
      thinking: 'default',
      effort: null,
      stream: true,
      streamUsage: true,
      echoReasoning: false,
      maxTokens: null,
      maxTokensField: 'max_tokens',
      timeoutMs: null,
      idleTimeoutMs: null,
    };
    const models = { providers: { bench: settings }, prices: {}, windows: {}, compactAt: 0.95 };
    const given = { models, secrets: { bench: { key: 'none', headers: {} } } };
    this.#host = new ThreadHost({ entry: ENTRY, given });
  }

  start(name) {
    const actor = { name, handle: null, mail: 0, seq: 0, idle: null, resting: false };
    this.#all.set(name, actor);
    const rest = new Promise((resolve) => {
      actor.idle = resolve;
    });
    actor.handle = this.#host.start(this.#start(name), {
      onRequests: (requests) => this.#serve(actor, requests),
      onExit: (exit) => {
        if (!this.closing) throw new Error(`${name}: ${JSON.stringify(exit)}`);
      },
    });
    return rest;
  }

  /** A letter; resolves when its answer is recorded and the actor rests again. */
  turn(name, text) {
    const actor = this.#all.get(name);
    actor.mail += 1;
    const { mail: n } = actor;
    const envelope = {
      v: 1,
      n,
      seq: n,
      id: `env_${n}`,
      at: '2026-01-01T00:00:00.000Z',
      to: name,
      from: 'user',
      fromIncarnation: 1,
      lane: 'normal',
      type: 'chat.message',
      body: { text },
    };
    const rest = new Promise((resolve) => {
      actor.idle = resolve;
    });
    actor.handle.post([{ type: 'mail', envelopes: [envelope] }]);
    return rest;
  }

  async close() {
    this.closing = true;
    await this.#host.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #serve(actor, requests) {
    const replies = [];
    for (const { id, request } of requests) {
      if (request.type === 'live') {
        if (request.event === 'text') this.#onLive(request.data);
        continue;
      }
      if (request.type === 'stuck') throw new Error(JSON.stringify(request));
      actor.seq += 1;
      const records = request.type === 'answer' || request.type === 'result';
      const reply = replyTo(request, records ? actor.seq : null);
      replies.push({ type: 'reply', id, reply });
      if (request.type === 'idle') actor.idle();
    }
    if (replies.length > 0) actor.handle.post(replies);
  }

  #start(name) {
    const profile = { name: 'lead', description: '', prompt: '', model: null, tools: null };
    return {
      run: 'bench',
      name,
      kind: 'lead',
      incarnation: 1,
      epoch: 1,
      profile: { ...profile, restart: 'transient' },
      model: 'bench/claude-sonnet-5-5',
      scripts: {},
      system: 'You lead a team of agents.'.repeat(40),
      tools: this.tools,
      limits: { parallel: 1, turns: 1_000_000, depth: 1, fanout: 1 },
      permissions: { default: 'allow', rules: [], attended: false },
      journalDirectory: this.#folder,
      outputsDirectory: this.#folder,
      workplace: null,
      prompt: null,
      upToSeq: 0,
      fromSeq: 0,
    };
  }
}

/** As a supervisor with money left. `seq`: of the record that the request became; null: it became none. */
function replyTo(request, seq) {
  if (seq !== null) return { type: 'committed', seq };
  if (request.type === 'reserve') return { type: 'granted', maxTokens: request.maxTokens };
  return { type: 'noted' };
}
