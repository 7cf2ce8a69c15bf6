/** The settings of a session that an editor shows as choices: model, effort and mode. */
import {RequestError, type SessionConfigOption, type SessionModeState} from '@agentclientprotocol/sdk/unstable';
import type {Thinking} from '../../core/contract/model.ts';
import type {Session} from '../../core/contract/session-requests.ts';

const MODEL_ALIASES = ['opus', 'sonnet', 'haiku'];
const EFFORTS: Readonly<Record<string, string>> = {
  default: "The model's own",
  off: 'Off',
  low: 'Low',
  medium: 'Medium',
  high: 'High',
};

export class ConfigOptions {
  #effort = 'default';

  constructor(
    private readonly session: Session,
    private readonly modes: {readonly state: () => SessionModeState; set(mode: string): void},
  ) {}

  list(): SessionConfigOption[] {
    const {currentModeId, availableModes} = this.modes.state();
    const {model} = this.session.info;
    const models = [...new Set([model, ...MODEL_ALIASES])];
    return [
      {
        type: 'select',
        id: 'mode',
        name: 'Mode',
        category: 'mode',
        currentValue: currentModeId,
        options: availableModes.map(({id, name}) => ({value: id, name})),
      },
      {
        type: 'select',
        id: 'model',
        name: 'Model',
        category: 'model',
        currentValue: model,
        options: models.map((name) => ({value: name, name})),
      },
      {
        type: 'select',
        id: 'effort',
        name: 'Effort',
        category: 'thought_level',
        currentValue: this.#effort,
        options: Object.entries(EFFORTS).map(([value, name]) => ({value, name})),
      },
    ];
  }

  /** Any model that `/model` takes may be named. @throws RequestError for an unknown option or value */
  set(id: string, value: unknown): void {
    const text = String(value);
    switch (id) {
      case 'mode':
        this.modes.set(text);
        return;
      case 'model':
        this.session.request({type: 'set_model', model: text});
        return;
      case 'effort': {
        if (!Object.hasOwn(EFFORTS, text)) {
          throw RequestError.invalidParams(undefined, `there is no effort ${text}: ${Object.keys(EFFORTS).join(', ')}`);
        }
        const thinking = text === 'default' ? {} : {thinking: text as Thinking};
        this.session.request({type: 'set_thinking', ...thinking});
        this.#effort = text;
        return;
      }
      default:
        throw RequestError.invalidParams(undefined, `there is no option ${id}: mode, model, effort`);
    }
  }
}
