/** Texts at the edges of what fields take: numbers, slugs, times, lists, blanks, lengths, other scripts. */
export const EDGE_TEXTS: readonly string[] = [
  ...['', ' ', '0', '1', '7', '-1', '+7', '07', ' 7', '7 ', '1e3', '0x10', '1.0', '1.5', '.5', 'NaN', 'Infinity'],
  ...['2147483647', '2147483648', '9007199254740993', '9'.repeat(16), '9'.repeat(400), '-2147483649'],
  ...['acme/shop', 'ACME/Shop', 'acme', 'acme/', '/shop', 'a/b/c', '../x', 'x/..', 'acme/sh op', 'acme/shöp'],
  ...[`${'o'.repeat(100)}/${'n'.repeat(100)}`, `${'o'.repeat(101)}/n`, 'acme/shop\n', '%2F', '%00', 'a%', '\\'],
  ...['1h', '24h', '7d', '5s', '1w', '1234567s', 'today', '2026-03-01', '2026-02-30', '2026-03-01T00:00:00Z'],
  ...['2026-03-01T00:00:00+02:00', '2026-03-01T24:00:00Z', '0001-01-01', '2026-03-01 00:00:00Z', '9999-12-31'],
  ...['alert', 'alert,state-transition', 'alert,', ',', 'open', 'OPEN', 'all', 'tools', 'x', 'ä', '😀', 'İ', 'ﬀ'],
  ...[
    'a\0b',
    '\0',
    '\u0001',
    '\u2028',
    '\ufeff',
    '\uffff',
    'e\u0301',
    '‮abc',
    "'",
    '"',
    '`',
    ';--',

    '{{7*7}}',
  ],
  ...['<script>alert(1)</script>', '%_', '*', '(', '[', '$', '^', 'constructor', '__proto__', 'toString', 'null'],
  ...['true', 'false', 'undefined', '[]', '{}', '0198c5a4-7c1e-7000-8000-000000000001', '0198c5a4', 'f'.repeat(64)],
  ...[50, 99, 100, 101, 200, 201, 300, 301, 500, 501, 5_000, 5_001].map((length) => 'a'.repeat(length)),
];

/** Values of other JSON types, for fields that want one in particular. */
export const EDGE_VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 1.5, -0.5, 2 ** 31, 2 ** 53, 1e308, -1e308, 1e-7],
  ...['', 'x', ' ', '1', 'true', 'null', '2026-13-01', 'ab\ncd'],
  ...[[], [null], [[]], ['x'], {}, { x: 1 }, [{}]],
];
