/** The colours of code by its kind. Rows of changes need them where highlight.js is not loaded. */
import type {Tone} from '../theme.ts';
import {PLAIN, type TextStyle} from './styled-text.tsx';

const CODE_TONES: Readonly<Record<string, Tone>> = {
  keyword: 'keyword',
  built_in: 'type',
  type: 'type',
  literal: 'literal',
  number: 'literal',
  string: 'string',
  regexp: 'string',
  comment: 'comment',
  title: 'title',
  attr: 'type',
  attribute: 'type',
  tag: 'title',
  name: 'title',
  meta: 'comment',
  addition: 'added',
  deletion: 'removed',
};

export function getCodeStyle(scope: string): TextStyle {
  const tone = CODE_TONES[scope.split('.')[0]!];
  return tone ? {tone} : PLAIN;
}
