/** The structured serialisation of V8. Its bytes carry their version; newer ones than it knows are refused. */
import { deserialize, serialize } from 'node:v8';
import type { Codec } from '../kernel/index.ts';

export class StructuredCodec implements Codec {
  encode(value: unknown): Uint8Array {
    return serialize(value);
  }

  decode(bytes: Uint8Array): unknown {
    return deserialize(bytes);
  }
}
