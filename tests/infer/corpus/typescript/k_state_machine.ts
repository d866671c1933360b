// An order's life as a table of transitions; effects are functions that the caller hands in.
type State = 'cart' | 'placed' | 'paid' | 'sent' | 'cancelled';
type Trigger = 'place' | 'pay' | 'send' | 'cancel';
type Effect = (from: State, to: State) => void;

const TABLE: Record<State, Partial<Record<Trigger, State>>> = {
  cart: { place: 'placed', cancel: 'cancelled' },
  placed: { pay: 'paid', cancel: 'cancelled' },
  paid: { send: 'sent' },
  sent: {},
  cancelled: {},
};

class Machine {
  private effects: Effect[] = [];
  constructor(private state: State = 'cart') {}

  onChange(effect: Effect): this {
    this.effects.push(effect);
    return this;
  }

  fetch(trigger: Trigger): boolean {
    const next = TABLE[this.state][trigger];
    if (next === undefined) return false;
    this.effects.forEach((effect) => effect(this.state, next));
    this.state = next;
    return true;
  }

  get current(): State {
    return this.state;
  }
}

const history: string[] = [];
const machine = new Machine().onChange((from, to) => history.push(`${from}>${to}`));
const refused = (['place', 'send', 'pay', 'cancel', 'send'] as Trigger[]).filter((trigger) => !machine.fetch(trigger));

console.log(machine.current, history.join(' '), `refused: ${refused.join(', ')}`);
