/** Ctrl-C and its kin, from the first moment on: once asks to stop, twice to stop at once. */
import type { Io, SignalName } from './io.ts';

export interface StopRequests {
  asked(): number;
  /** Called for each that came and each that comes. */
  onAsk(listener: (now: boolean, signal: SignalName) => void): void;
}

/** From the first moment to the end of the process, so that no signal ends it while something of a run is there. */
export function listenForStop(io: Io): StopRequests {
  const signals: SignalName[] = [];
  let listener: ((now: boolean, signal: SignalName) => void) | null = null;
  io.onSignal((name) => {
    signals.push(name);
    if (signals.length <= 2) listener?.(signals.length === 2, name);
  });
  return {
    asked: () => signals.length,
    onAsk(given) {
      listener = given;
      for (const [index, name] of signals.slice(0, 2).entries()) given(index === 1, name);
    },
  };
}
