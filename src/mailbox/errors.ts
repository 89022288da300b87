/** Errors of sends; a refused send was not recorded. */
import { counted } from '../kernel/counted.ts';
import { EXIT, TroupeError } from '../kernel/errors.ts';
import type { SendCheck } from './send.ts';

/** The error of a send that was not `ok`; null for `ok` and `duplicate`, which are none. */
export function sendError(to: string, check: SendCheck): TroupeError | null {
  switch (check.kind) {
    case 'ok':
    case 'duplicate':
      return null;
    case 'full':
      return new TroupeError({
        code: 'mailbox/full',
        message: `The mailbox of ${to} is full: ${counted(check.count, 'unread envelope')}, ${check.bytes} bytes`,
        hint: `Its bound is ${check.limit.unreadMax} envelopes or ${check.limit.bytesMax} bytes; send again when it has read.`,
        data: { to, count: check.count, bytes: check.bytes, ...check.limit },
        retryable: true,
      });
    case 'unknown':
      return new TroupeError({
        code: 'mailbox/unknown',
        message: `Nobody is called "${to}"`,
        hint: check.near.length > 0 ? `Did you mean ${check.near.join(' or ')}?` : undefined,
        data: { to, near: check.near },
        exit: EXIT.notFound,
      });
    case 'stopped':
      return new TroupeError({
        code: 'mailbox/stopped',
        message: `${to} is stopped; the letter is kept as a dead letter`,
        hint: 'See it with `troupe mail dead`.',
        data: { to },
      });
  }
}
