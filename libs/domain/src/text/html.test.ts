import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { html } from './html.ts';

test('no text becomes markup, wherever it stands', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', 'a', '/', '=', ' ') }), (text) => {
      const { markup } = html`<p title="${text}">${text}</p>`;
      const inner = markup.slice('<p title="'.length, -'</p>'.length);
      expect(inner.replace('">', '')).not.toMatch(/[<>"']/);
      const back = markup
        .replace(/&lt;/g, '<')
        .replace(/&gt;/g, '>')
        .replace(/&quot;/g, '"')
        .replace(/&#39;/g, "'");
      expect(back.replace(/&amp;/g, '&')).toBe(`<p title="${text}">${text}</p>`);
    }),
  );
});

test('markup stays, lists are joined, null and false leave nothing', () => {
  expect(html`${[1, 2].map((n) => html`<b>${n}</b>`)}${null}${false}${html`<i>${'<'}</i>`}`.markup).toBe(
    '<b>1</b><b>2</b><i>&lt;</i>',
  );
});
