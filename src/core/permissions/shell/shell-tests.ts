/** `[[ … ]]`: words beside `-eq` and the like are evaluated as arithmetic, which may run code. */
import type {TestExpression, Word} from 'unbash';
import {NotProven} from './command-parser.ts';
import {type Reading, readAll, textsOf} from './program-options.ts';
import {checkTest} from './read-only-scripts.ts';
import type {ShellWord} from './shell-words.ts';

/** @param expand walks through what runs within the word, too. @throws NotProven for what may do more than read */
export function readTest(expression: TestExpression, expand: (word: Word) => readonly ShellWord[]): Reading {
  switch (expression.type) {
    case 'TestUnary': {
      const operand = expand(expression.operand);
      if (operand.length !== 1) throw new NotProven('[[: it was not understood');
      return checkTest([{kind: 'text', text: expression.operator, home: false}, ...operand]);
    }
    case 'TestBinary':
      return readComparison(expression.operator, expression.left, expression.right, expand);
    case 'TestLogical':
      return joined(expression.operands.map((operand) => readTest(operand, expand)));
    case 'TestNot':
      return readTest(expression.operand, expand);
    case 'TestGroup':
      return readTest(expression.expression, expand);
  }
}

function readComparison(
  operator: string,
  left: Word,
  right: Word,
  expand: (word: Word) => readonly ShellWord[],
): Reading {
  const reading: Reading = {paths: [], globs: []};
  if (!/^(?:==?|!=|<|>|=~|-nt|-ot|-ef)$/.test(operator)) throw new NotProven('[[: it may run code');
  const words = [...expand(left)];
  if (operator !== '=~') words.push(...expand(right));
  else if (/[$`\\]/.test(right.text)) throw new NotProven('[[: it may run code');
  if (operator.startsWith('-')) {
    textsOf(words);
    readAll(words, reading);
  }
  return reading;
}

function joined(readings: readonly Reading[]): Reading {
  return {paths: readings.flatMap(({paths}) => paths), globs: readings.flatMap(({globs}) => globs)};
}
