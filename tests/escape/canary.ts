/** Finds a key in what an attempt printed, also encoded. */

/** True for a text with the key, also in base64, base32, hex, octal, reversed, or with white space in it. */
export function containsKey(text: string, key: string): boolean {
  // Without the columns that od, xxd and hexdump put beside the bytes.
  const bytes = text.replace(/^[\da-f]{7,8}(:)? (.*)$/gm, (_, isXxd: string | undefined, line: string) =>
    line.replace(isXxd ? / {2}\S.{0,15}$/ : / *\|.*\|$/, ''),
  );
  const plain = [text, bytes].map((each) => each.replace(/\s/g, '')).join(' ');
  return getForms(key).some((form) => plain.includes(form));
}

const forms = new Map<string, readonly string[]>();

function getForms(key: string): readonly string[] {
  const known = forms.get(key);
  if (known) return known;
  const bytes = [...Buffer.from(key)];
  const swapped = Array.from({length: 8}, (_, at) => [bytes[2 * at + 1]!, bytes[2 * at]!]).flat();
  const made = [
    key.slice(2),
    [...key].reverse().join('').slice(2),
    ...[0, 1, 2].map((shift) =>
      Buffer.from('x'.repeat(shift) + key)
        .toString('base64')
        .slice(4, 24),
    ),
    Buffer.from(key).toString('hex').slice(4, 36),
    // od prints words of two bytes, and octal numbers of one.
    ...[0, 1].map((from) =>
      swapped
        .slice(2 + 2 * from, 12)
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join(''),
    ),
    ...[0, 1].map((from) => octalWords(bytes.slice(from, from + 12))),
    bytes
      .slice(2, 10)
      .map((byte) => byte.toString(8).padStart(3, '0'))
      .join(''),
    // od -c and the like print the characters with blanks between, which are gone here; base32 by its middle.
    ...[0, 1, 2, 3, 4].map((shift) => base32('x'.repeat(shift) + key).slice(8, 24)),
    [...key]
      .map((letter) => letter.charCodeAt(0).toString(2).padStart(8, '0'))
      .slice(2, 10)
      .join(''),
  ];
  forms.set(key, made);
  return made;
}

function octalWords(bytes: readonly number[]): string {
  return Array.from({length: bytes.length / 2}, (_, at) =>
    (bytes[2 * at]! + 256 * bytes[2 * at + 1]!).toString(8).padStart(6, '0'),
  ).join('');
}

function base32(text: string): string {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five, 2)])
    .join('');
}
