/** The languages whose code is coloured, and when they are registered. */
import hljs from 'highlight.js/lib/core';
import {expect, test} from 'vitest';
import {createHighlighter} from '../../../src/ui/text/highlight.ts';

test('registers the common languages of highlight.js with the first code', async () => {
  const {highlight} = createHighlighter();
  expect(hljs.listLanguages()).toEqual([]);
  expect(highlight('let x', 'ts')[0]).toEqual({text: 'let', scope: 'keyword'});
  const registered = hljs.listLanguages();
  const common = await import('highlight.js/lib/common');
  expect(registered).toEqual(common.default.listLanguages());
  expect(registered.length).toBeGreaterThan(30);
});
