/** The input of a call as an ask holds it: whole, or by reference with its long texts cut to their heads (M8). */
import type { PayloadRef } from '../../../protocol/index.ts';
import { inputByReference, isLarge } from '../../../sessions/index.ts';

export function shortInput(
  input: unknown,
  payload: PayloadRef | undefined,
): { readonly input: unknown } & Partial<PayloadRef> {
  if (payload === undefined || !isLarge(JSON.stringify(input) ?? '')) return { input };
  return { input: inputByReference(input, payload.bytes), ...payload };
}
