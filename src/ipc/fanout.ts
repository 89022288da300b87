/**
 * Events for many: subscribers that want the same get the same bytes. What happens within a moment is written down once
 * and goes to each in one piece; who does not keep up leaves the group for a queue of its own, and comes back when it has
 * read all of it.
 *
 * Invariants
 * - E3 A member gets every event of the group from its joining to its leaving, in order, once.
 * - E4 A member that does not read costs the others nothing; its queue is bounded, with one gap marker.
 */
import type { LiveControl, Subscribed } from '../control/index.ts';
import { isLive } from '../events/index.ts';
import type { TroupeEvent } from '../protocol/event.ts';
import type { SubscribeParams } from '../protocol/wire.ts';
import { IPC_LIMITS } from './limits.ts';

/** A client, as far as events go. */
export interface Outlet {
  /** False while too much waits to be sent. */
  readonly open: boolean;
  send(bytes: Buffer): void;
  /** Resolves when `open` may be true again, or when the connection has ended. */
  drained(): Promise<void>;
}

type Source = Pick<LiveControl, 'subscribe' | 'tap'>;

export interface Fanout {
  /** Listens from now on; nothing is sent before `start`. Throws what `LiveControl.subscribe` throws. */
  carry(what: {
    readonly id: string;
    readonly params: SubscribeParams;
    readonly outlet: Outlet;
  }): Carriage;
}

export interface Carriage {
  readonly run: string;
  readonly cursor: string;
  /** Resolves when it is closed; rejects when its replay fails. */
  start(): Promise<void>;
  close(): void;
}

interface Member {
  readonly outlet: Outlet;
  /** It could not be given these: it goes on alone. */
  leave(events: readonly TroupeEvent[]): void;
}

export function makeFanout(source: Source): Fanout {
  const groups = new Map<string, Group>();
  const join = (what: SubscribeParams, id: string, member: Member): (() => void) => {
    const key = JSON.stringify([id, what.run, what.types, what.actors, what.tasks, what.live]);
    let group = groups.get(key);
    if (group === undefined) {
      group = new Group(source, what, id);
      groups.set(key, group);
    }
    const joined = group;
    joined.add(member);
    return () => {
      if (joined.remove(member) && groups.get(key) === joined) groups.delete(key);
    };
  };
  return { carry: (what) => new Carrier(source, join, what) };
}

type Join = (what: SubscribeParams, id: string, member: Member) => () => void;

class Carrier implements Carriage {
  readonly run: string;
  readonly cursor: string;
  readonly #source: Source;
  readonly #join: Join;
  readonly #id: string;
  readonly #outlet: Outlet;
  /** What it is in a group for: from now on, without a replay. */
  readonly #now: SubscribeParams;
  #own: Subscribed | null;
  #leave: () => void = () => undefined;
  #closed = false;
  #end: () => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(source: Source, join: Join, what: Parameters<Fanout['carry']>[0]) {
    this.#source = source;
    this.#join = join;
    this.#id = what.id;
    this.#outlet = what.outlet;
    this.#own = source.subscribe(what.params);
    this.run = this.#own.run;
    this.cursor = this.#own.cursor;
    const { from: _from, ...rest } = what.params;
    this.#now = { ...rest, run: this.run };
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
      if (this.#closed) resolve();
      else this.#alone().catch(reject);
    });
  }

  close(): void {
    this.#closed = true;
    this.#own?.events.close();
    this.#leave();
    this.#end();
  }

  async #alone(): Promise<void> {
    for (;;) {
      const own = this.#own?.events;
      if (own === undefined || this.#closed) return;
      if (own.idle && this.#outlet.open) {
        this.#gather();
        return;
      }
      const event = await own.next();
      if (event === null) return;
      if (isLive(event) && this.#now.live !== true) continue;
      while (!this.#outlet.open) await this.#outlet.drained();
      this.#outlet.send(Buffer.from(noticeLine(this.#id, event)));
    }
  }

  /** Both listen to the same hub, and nothing happens between these two lines. */
  #gather(): void {
    this.#own?.events.close();
    this.#own = null;
    this.#leave = this.#join(this.#now, this.#id, {
      outlet: this.#outlet,
      leave: (events) => {
        if (this.#closed) return;
        this.#own = this.#source.subscribe(this.#now, events);
        this.#leave();
        this.#alone().catch(this.#fail);
      },
    });
  }
}

class Group {
  readonly #members = new Set<Member>();
  readonly #id: string;
  readonly #end: () => void;
  #pending: TroupeEvent[] = [];
  #timer: NodeJS.Timeout | null = null;
  #flushedAt = 0;

  constructor(source: Source, what: SubscribeParams, id: string) {
    this.#id = id;
    this.#end = source.tap(what, (event) => {
      if (isLive(event) && what.live !== true) return;
      this.#pending.push(event);
      if (this.#pending.length >= IPC_LIMITS.flushEvents) this.#flush();
      else this.#soon();
    });
  }

  add(member: Member): void {
    // What happened before is not for the one who comes now.
    this.#flush();
    this.#members.add(member);
  }

  /** True when it was the last one, which ends the group. */
  remove(member: Member): boolean {
    this.#members.delete(member);
    if (this.#members.size > 0) return false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#end();
    return true;
  }

  #soon(): void {
    if (this.#timer !== null) return;
    const waited = performance.now() - this.#flushedAt;
    this.#timer = setTimeout(() => this.#flush(), Math.max(0, IPC_LIMITS.flushMs - waited));
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const events = this.#pending;
    if (events.length === 0) return;
    this.#pending = [];
    this.#flushedAt = performance.now();
    const bytes = Buffer.from(events.map((event) => noticeLine(this.#id, event)).join(''));
    for (const member of this.#members) {
      if (member.outlet.open) member.outlet.send(bytes);
      else member.leave(events);
    }
  }
}

/** An event is written down once, for whomever. */
const texts = new WeakMap<TroupeEvent, string>();

function noticeLine(subscription: string, event: TroupeEvent): string {
  let text = texts.get(event);
  if (text === undefined) {
    text = JSON.stringify(event);
    texts.set(event, text);
  }
  return `{"jsonrpc":"2.0","method":"event","params":{"subscription":"${subscription}","event":${text}}}\n`;
}
