/**
 * The page: connects what the bridge says with what is shown, and what hands do with what the bridge is asked.
 *
 *   connection ──news──► store ──► panel (HTML, world)      hands, mouse ──► demonstrator ──► connection
 *                  └───► world, robot, ghost, feedback      buttons, keys ──► actions ──────► connection
 */

import { Actions } from './actions.js';
import { codeOf, PairingForm } from './pairing.js';
import { Connection } from './connection.js';
import { Demonstrator } from './demonstrator.js';
import { Feedback } from './feedback.js';
import { Ghost } from './ghost.js';
import { handle } from './handle.js';
import { HtmlPanel } from './panel_html.js';
import { icon } from './icons.js';
import { isDemonstrator, isRunning, restOf, Store } from './state.js';
import { Mouse } from './mouse.js';
import { OtherHands } from './hands.js';
import { panelModel } from './panel.js';
import { Robot } from './robot.js';
import { Shortcuts } from './shortcuts.js';
import { Sounds } from './sounds.js';
import { Stage } from './stage.js';
import { Toasts } from './toasts.js';
import { World } from './world.js';
import { WorldPanel } from './panel_world.js';
import { Xr } from './xr.js';

const element = (id) => document.getElementById(id);

class Page {
  constructor() {
    this.store = new Store();
    this.connection = new Connection();
    this.stage = new Stage(element('view'), new URLSearchParams(location.search).get('quality') ?? 'high');
    this.world = new World(this.stage, () => this.headers());
    this.robot = new Robot();
    this.stage.cell.ros.add(this.robot);
    this.others = new OtherHands(this.stage);
    this.toasts = new Toasts(element('toasts'), (toast) => this.store.update({ toast }), (id) => this.press(id));
    this.toast = this.toasts.show;
    this.sounds = new Sounds(this.store);
    this.sound = this.sounds.play;
    this.feedback = new Feedback(this.stage, this.world);
    this.ghost = new Ghost(this.stage, this.world, (time, playing) => this.store.update({ ghost: { time, playing, shown: true } }));
    this.demonstrator = new Demonstrator(this);
    this.actions = new Actions(this);
    this.press = (id) => {
      this.actions.press(id);
      return true;
    };
    this.change = (id, value) => this.actions.change(id, value);
    this.mouse = new Mouse(this.stage, this.world, this.demonstrator, this.feedback);
    this.panel = new WorldPanel();
    this.xr = new Xr(this);
    this.htmlPanel = new HtmlPanel(element('panel'), this.press, this.change);
    this.help = element('help');
    this.shortcuts = new Shortcuts(this);
    this.pairing = new PairingForm(element('pairing'), (code) => this.connection.connect(code));
    this.looked = false;
    this.#buttons();
    this.#listen();
    this.store.subscribe(() => this.draw());
    setInterval(() => this.store.state.recording.state === 'recording' && this.draw(), 1000);
    this.draw();
  }

  headers() {
    const { token } = this.connection;
    return token ? { Authorization: `Bearer ${token}` } : {};
  }

  start() {
    const code = codeOf(location.hash);
    if (code) history.replaceState(null, '', location.pathname + location.search);
    this.connection.connect(code);
    addEventListener('pagehide', () => this.connection.close());
    addEventListener('pageshow', ({ persisted }) => persisted && this.connection.connect());
  }

  draw() {
    const { state } = this.store;
    const model = panelModel(state, performance.now());
    this.htmlPanel.draw(model);
    if (this.stage.presenting) this.panel.draw(model, state.scroll);
    const enter = element('enter-vr');
    enter.hidden = !state.xr.supported;
    document.body.dataset.recording = state.recording.state;
  }

  view(step) {
    this.xr.view(step);
  }

  /** Look at the work area. */
  lookAround() {
    const [x, y, z] = this.world.middle();
    this.stage.lookAtCell([x * 0.7, y + 0.04, z + 0.26], 2.35);
  }

  /** Save a file of a task: its MTDF or its log, of a version (null: the newest). */
  async download(name, ending, version = null) {
    const query = version === null ? '' : `?version=${version}`;
    const answer = await fetch(`/tasks/${encodeURIComponent(name)}.${ending}${query}`, { headers: this.headers() });
    if (!answer.ok) {
      this.toast('error', (await answer.text()).trim() || `${name} could not be downloaded (${answer.status}).`);
      return;
    }
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await answer.blob());
    link.download = version === null ? `${name}.${ending}` : `${name} v${version}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  #buttons() {
    element('enter-vr').prepend(icon('headset'));
    element('enter-vr').addEventListener('click', () => this.xr.enter());
    element('show-help').append(icon('keyboard'));
    element('show-help').addEventListener('click', () => this.help.showModal());
    element('look').append(icon('eye'));
    element('look').addEventListener('click', () => this.lookAround());
    element('fold').addEventListener('click', () => document.body.classList.toggle('folded'));
    const held = {
      'held:left': [0, [0, 0, 1], Math.PI / 12], 'held:right': [0, [0, 0, 1], -Math.PI / 12],
      'held:up': [0.01], 'held:down': [-0.01], 'held:tip': [0, [0, 1, 0], Math.PI / 12],
    };
    for (const button of document.querySelectorAll('[data-held]')) {
      button.append(icon(button.dataset.icon));
      button.addEventListener('pointerdown', (event) => {
        event.preventDefault();
        this.mouse.adjust(...held[button.dataset.held]);
      });
    }
  }

  #listen() {
    const { connection, store } = this;
    const link = (patch) => store.update({ link: { ...store.state.link, ...patch } });
    connection.addEventListener('connecting', () => store.state.link.state !== 'lost' && link({ state: 'connecting' }));
    connection.addEventListener('latency', ({ detail }) => link({ latency: detail.latency }));
    connection.addEventListener('pairing', ({ detail }) => {
      link({ state: 'pairing', message: detail.message, latency: null });
      this.pairing.show(detail.message);
    });
    connection.addEventListener('lost', ({ detail }) => {
      link({ state: 'lost', latency: null, message: detail.message });
      this.pairing.explain(detail.message);
      this.demonstrator.dropAll();
    });
    connection.addEventListener('open', ({ detail }) => {
      this.pairing.hide();
      link({ state: 'open', message: '' });
      store.update({ me: detail.client, name: detail.name, robots: detail.robots, settings: detail.settings, planning: null });
      this.fresh = true;
    });
    connection.addEventListener('news', ({ detail }) => this[`on_${detail.type}`]?.(detail));
  }

  // News ----------------------------------------------------------------------------------------------------------------

  on_roster(roster) {
    const { store, connection } = this;
    store.update({ roster });
    if (isDemonstrator(store.state)) this.others.hide();
    // Who comes first need not ask; later nobody becomes demonstrator unasked.
    if (this.fresh && roster.demonstrator === null) connection.request('take_control').catch(() => {});
    this.fresh = false;
  }

  on_robot(robot) {
    this.store.update({ robot });
    if (this.robot.address === robot.urdf) return;
    this.robot.load(robot.urdf, robot.base, this.headers()).then(
      () => this.stage.invalidate(),
      (error) => this.toast('error', error.message),
    );
  }

  on_joints({ q }) {
    this.robot.setJoints(this.store.state.robot?.joints ?? [], q);
    this.stage.invalidate();
  }

  on_scene(scene) {
    this.world.setScene(scene);
    this.store.update({ objects: this.world.size });
    if (!this.looked && this.world.size) this.lookAround();
    this.looked = this.looked || this.world.size > 0;
    this.#showFailure();
  }

  on_objects(news) {
    this.world.apply(news, this.demonstrator.keeps);
    const { touched } = this.store.state;
    this.store.update({ objects: this.world.size, touched: this.world.get(touched) ? touched : null });
  }

  on_hands(hands) {
    if (hands.client !== this.store.state.me) this.others.show(hands);
  }

  on_recording(recording) {
    const before = this.store.state.recording;
    this.store.update({ recording, recordingAt: performance.now() });
    if (before.state !== recording.state) this.store.update({ trim: null, taskName: recording.state === 'review' ? recording.name : '' });
    // The bridge says so too (plan_dropped); without a wait nobody sees an old ghost beside a new step.
    if (recording.state === 'recording' || JSON.stringify(before.keyframes) !== JSON.stringify(recording.keyframes)) this.#forgetPlan();
  }

  on_tasks({ tasks }) {
    this.store.update({ tasks });
  }

  on_settings({ snap, gravity, keep_paths }) {
    this.store.update({ settings: { snap, gravity, keep_paths } });
  }

  on_reach(reach) {
    this.feedback.reach(reach);
  }

  on_planning(planning) {
    this.store.update({ planning, plan: null });
    this.feedback.failure(null);
  }

  on_plan(plan) {
    this.store.update({ plan, planning: null, execution: null, executed: null, goOn: null });
    this.#showFailure();
    this.sound(plan.ok ? 'done' : 'fault');
    this.ghost.show(plan, this.headers()).catch((error) => this.toast('error', error.message));
    if (!plan.ok && !plan.object) this.toast('warning', plan.message);
    this.draw();
    this.htmlPanel.reveal('plan');
  }

  on_plan_dropped() {
    this.#forgetPlan();
  }

  on_execution(execution) {
    this.store.update({ execution, executed: null, goOn: null });
    this.ghost.hide();
  }

  on_executed(executed) {
    this.store.update({ executed, goOn: restOf(executed, this.store.state.recording) });
    this.sound(executed.ok ? 'done' : 'fault');
    this.toast(executed.ok ? 'info' : 'warning', executed.message || (executed.ok ? 'The robot has done the task.' : 'The robot stopped.'));
  }

  on_notice({ level, text }) {
    this.toast(level, text);
  }

  /** Mark the object that a plan failed at, and the place that it was meant for. */
  #showFailure() {
    const { plan, recording } = this.store.state;
    const failed = plan && !plan.ok ? plan : null;
    this.feedback.failure(failed, failed ? recording.keyframes[failed.keyframe]?.pose ?? null : null);
  }

  #forgetPlan() {
    const over = isRunning(this.store.state) ? {} : { execution: null, executed: null };
    this.store.update({ plan: null, planning: null, goOn: null, ...over });
    this.feedback.failure(null);
    this.ghost.show(null, {});
  }
}

const page = new Page();
globalThis.lfd = handle(page);
page.start();
