/**
 * CRC-32 (the one of zlib, gzip and PNG) over a range of bytes, seeded so that records can be chained. Pure code, so
 * that the journal runs without node builtins; eight bytes a step. Equal to `zlib.crc32(bytes, seed)`.
 */

const POLYNOMIAL = 0xedb88320;

const [T0, T1, T2, T3, T4, T5, T6, T7] = makeTables();

/** The crc of `bytes[from, to)` continued from `seed`, as an unsigned number. */
export function crc32(bytes: Uint8Array, from: number, to: number, seed: number): number {
  let crc = ~seed;
  let at = from;
  for (const end = to - 7; at < end; at += 8) {
    const low =
      crc ^
      ((bytes[at] ?? 0) |
        ((bytes[at + 1] ?? 0) << 8) |
        ((bytes[at + 2] ?? 0) << 16) |
        ((bytes[at + 3] ?? 0) << 24));
    crc =
      (T7[low & 0xff] ?? 0) ^
      (T6[(low >>> 8) & 0xff] ?? 0) ^
      (T5[(low >>> 16) & 0xff] ?? 0) ^
      (T4[low >>> 24] ?? 0) ^
      (T3[bytes[at + 4] ?? 0] ?? 0) ^
      (T2[bytes[at + 5] ?? 0] ?? 0) ^
      (T1[bytes[at + 6] ?? 0] ?? 0) ^
      (T0[bytes[at + 7] ?? 0] ?? 0);
  }
  for (; at < to; at += 1) {
    crc = (crc >>> 8) ^ (T0[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  }
  return ~crc >>> 0;
}

/** Eight lower-case hex digits. */
export function crcText(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

type Tables = readonly [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

function makeTables(): Tables {
  const tables: Tables = [
    new Int32Array(256),
    new Int32Array(256),
    new Int32Array(256),
    new Int32Array(256),
    new Int32Array(256),
    new Int32Array(256),
    new Int32Array(256),
    new Int32Array(256),
  ];
  const [first] = tables;
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1)
      crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    first[byte] = crc;
  }
  for (let index = 1; index < tables.length; index += 1) {
    for (let byte = 0; byte < 256; byte += 1) {
      const previous = tables[index - 1]?.[byte] ?? 0;
      const table = tables[index];
      if (table !== undefined) table[byte] = (previous >>> 8) ^ (first[previous & 0xff] ?? 0);
    }
  }
  return tables;
}
