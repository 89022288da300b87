/** The last records of a run, for who looks at a failure. */
import type { StoredRunRecord } from '../../../src/protocol/index.ts';

const LINES = 80;

export function traceOf(records: readonly StoredRunRecord[]): string[] {
  return records.slice(-LINES).map((record) => {
    const {
      s,
      k,
      a,
      i,
      took,
      mail,
      entries,
      tasks,
      actors,
      run,
      procs,
      asks,
      decisions,
      spend,
      dead,
    } = record;
    const parts = [
      ...(took ?? []).map((n) => `took ${n}`),
      ...(entries ?? []).map((one) =>
        one.type === 'result'
          ? `result ${one.call} ${one.ok} ${one.text.slice(0, 40)}`
          : one.type === 'answer'
            ? `answer ${JSON.stringify(one.content).slice(0, 200)}`
            : one.type,
      ),
      ...(mail ?? []).map((one) => `${one.type} ${one.id} ${one.from}>${one.to}`),
      ...(tasks ?? []).map(
        (one) =>
          `${one.type} ${'id' in one ? one.id : one.task.id}${'by' in one ? ` by ${one.by}` : ''}${'reason' in one ? ` (${one.reason.text.slice(0, 60)})` : ''}`,
      ),
      ...(actors ?? []).map(
        (one) => `${one.type} ${one.name}${'incarnation' in one ? ` ${one.incarnation}` : ''}`,
      ),
      ...(run ?? []).map((one) => one.type),
      ...(procs ?? []).map((one) => `${one.type} ${one.id}`),
      ...(asks ?? []).map((one) => `${one.type}${'id' in one ? ` ${one.id.slice(0, 10)}` : ''}`),
      ...(decisions ?? []).map((one) => `${one.effect} ${one.tool} ${one.call} by ${one.rule}`),
      ...(spend ?? []).map((one) => `${one.type} ${one.id}`),
      ...(dead ?? []).map((one) => `${one.what} ${one.n}: ${one.reason.slice(0, 40)}`),
    ];
    return `  ${s} ${k}${a === undefined ? '' : ` ${a} ${i ?? ''}`}: ${parts.join(' · ')}`;
  });
}
