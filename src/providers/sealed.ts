/**
 * The last thing before a provider's events leave the room: what it says of failures holds no key, whoever put it there.
 * Servers do repeat keys in their messages.
 *
 * Invariants
 * - L20 No event of a provider contains a key or the value of a configured header.
 */
import type { ProviderSecret } from '../config/index.ts';
import { TroupeError, toErrorShape } from '../kernel/index.ts';
import type { Provider, ProviderEvent } from '../protocol/index.ts';
import type { Failure } from './failure.ts';
import { SECRET_CHARS_MIN } from './limits.ts';

export function sealProvider(provider: Provider, secret: ProviderSecret): Provider {
  const clean = cleaner(secret);
  const countTokens = provider.countTokens?.bind(provider);
  return {
    ...provider,
    async *stream(request, signal): AsyncGenerator<ProviderEvent> {
      for await (const event of provider.stream(request, signal)) {
        yield event.type === 'error' ? cleanFailure(event, clean) : event;
      }
    },
    ...(countTokens === undefined
      ? {}
      : { countTokens: (...what) => countTokens(...what).catch(rethrowClean(clean)) }),
  };
}

function rethrowClean(clean: (text: string) => string): (error: unknown) => never {
  return (error) => {
    const { code, message, hint } = toErrorShape(error);
    const shown = hint === undefined ? undefined : clean(hint);
    throw new TroupeError({ code, message: clean(message), hint: shown });
  };
}

/** Takes secrets out of a text. */
export function cleaner(secret: ProviderSecret): (text: string) => string {
  const secrets = [secret.key, ...Object.values(secret.headers)]
    .flatMap((one) => (one === null ? [] : [one, one.replace(/^Bearer\s+/i, '')]))
    .filter((one) => one.length >= SECRET_CHARS_MIN)
    .toSorted((a, b) => b.length - a.length);
  return (text) => secrets.reduce((left, one) => left.replaceAll(one, '[secret]'), text);
}

function cleanFailure(event: Failure, clean: (text: string) => string): Failure {
  const { hint, message } = event;
  return {
    ...event,
    message: clean(message),
    ...(hint === undefined ? {} : { hint: clean(hint) }),
  };
}
