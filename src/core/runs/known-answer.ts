/** Stands for a model where the answer is there already: so a run with it is accepted, stored and announced as any other. */

import type {Model} from '../contract/model.ts';
import type {SubagentResult} from '../contract/runs.ts';
import {NO_USAGE} from '../util/messages.ts';
import {ANNOUNCE_SKIP} from './announcement.ts';

/** Says the result of another run again, marked, with that run's receipt. @param model whose name the run goes by */
export function knownAnswer(model: Model, {result, report}: SubagentResult): Model {
  const text = result.text === ANNOUNCE_SKIP ? ANNOUNCE_SKIP : `[cached]\n${report}`;
  const {name, offline, local} = model;
  return {
    ...{name, offline, local},
    reply: async () => ({
      id: 'cached',
      content: [{type: 'text', text, citations: null}],
      stopReason: 'end_turn',
      usage: NO_USAGE,
      model: name,
      garbledInputs: new Map(),
    }),
  };
}
