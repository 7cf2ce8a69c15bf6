/** The languages whose code is coloured. */
import hljs from 'highlight.js/lib/common';
import {expect, test} from 'vitest';
import {highlight} from '../../../src/ui/text/highlight.ts';
import {CODE_LANGUAGES} from '../../../src/ui/text/highlight-languages.ts';

test('are the common ones of highlight.js, also by their other names', () => {
  expect(Object.keys(CODE_LANGUAGES).toSorted()).toEqual(hljs.listLanguages().toSorted());
  expect(highlight('let x', 'ts')[0]).toEqual({text: 'let', scope: 'keyword'});
});
