// ---------------------------------------------------------------- light, as in the PNG pictures

const SHOTS = data.shots, GOLDEN = Math.PI * (3 - Math.sqrt(5)), light = data.light;

function keyLight(azimuth, shot) {
  const a = azimuth + light.sun_azimuth, e = light.sun_elevation;
  const sun = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
  if (shot === null) return sun;
  const side = [-Math.sin(a), Math.cos(a), 0], over = cross(sun, side);
  const away = Math.tan(light.sun_size) * Math.sqrt((shot + 0.5) / SHOTS);
  return unit(plus(sun, plus(scaled(side, away * Math.cos(GOLDEN * shot)), scaled(over, away * Math.sin(GOLDEN * shot)))));
}

function skyLight(shot) {
  const i = (shot * 55) % SHOTS, z = 1 - 2 * (i + 0.5) / SHOTS, flat = Math.sqrt(1 - z * z); // 55: neighbours far apart
  return [flat * Math.cos(GOLDEN * i), flat * Math.sin(GOLDEN * i), z];
}

const skyColour = (z) => (z > 0 ? scaled(light.sky, 0.75 + 0.5 * z) : light.bounce);
const toLinear = (s) => (s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4);
const KNEE = 0.75;
// What the tone curve takes to the page's background colour.
const unbent = (x) => (x < KNEE ? x : KNEE - (1 - KNEE) * Math.log(1 - (x - KNEE) / (1 - KNEE)));

function backdrop() {
  const hex = getComputedStyle(document.documentElement).getPropertyValue('--ground').trim();
  return [1, 3, 5].map((i) => unbent(toLinear(parseInt(hex.slice(i, i + 2), 16) / 255)));
}

// ---------------------------------------------------------------- WebGL

const VERTEX = `#version 300 es
uniform mat4 camera, model;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
out vec3 world, across;
void main() {
  vec4 placed = model * vec4(position, 1.0);
  world = placed.xyz;
  across = mat3(model) * normal;
  gl_Position = camera * placed;
}`;

const TONE = `
vec3 tone(vec3 light) {
  vec3 bent = mix(light, 0.75 + 0.25 * (1.0 - exp((0.75 - light) / 0.25)), step(0.75, light));
  return mix(12.92 * bent, 1.055 * pow(max(bent, 1e-6), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, bent));
}`;

const SURFACE = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
uniform vec4 colour;
uniform vec3 eye, sun, sunColour, sky, skyColour, above, below, open, ground, centre;
uniform mat4 sunFrame, skyFrame;
uniform sampler2DShadow sunMap, skyMap;
uniform vec2 offset;   // [m] above the surface where shadows are looked up, for the sun's map and the sky's
uniform float reach;   // [m] of the floor's light
uniform bool floored;  // this is the floor
uniform bool resting;  // one of many frames to be averaged
in vec3 world, across;
out vec4 seen;
${TONE}
float lit(sampler2DShadow map, mat4 frame, vec3 normal, float lift, float blur) {
  vec4 p = frame * vec4(world + lift * normal, 1.0);
  vec3 at = p.xyz * 0.5 + 0.5;
  if (any(lessThan(at.xy, vec2(0.002))) || any(greaterThan(at.xy, vec2(0.998)))) return 1.0;
  at.z = min(at.z - 0.0008, 0.9999); // beyond the map's far end there is only floor
  if (blur == 0.0) return texture(map, at);
  float sum = 0.0;
  for (int i = 0; i < 16; i++) {
    float r = blur * sqrt((float(i) + 0.5) / 16.0), a = 2.39996 * float(i);
    sum += texture(map, vec3(at.xy + r * vec2(cos(a), sin(a)), at.z));
  }
  return sum / 16.0;
}
void main() {
  vec3 look = normalize(eye - world);
  vec3 n = normalize(across) * (gl_FrontFacing ? 1.0 : -1.0);
  vec3 diffuse = sunColour * max(dot(n, sun), 0.0) * lit(sunMap, sunFrame, n, offset.x, resting ? 0.0 : 0.006);
  float shine = diffuse.g;
  if (resting) diffuse += 4.0 * skyColour * max(dot(n, sky), 0.0) * lit(skyMap, skyFrame, n, offset.y, 0.0);
  else diffuse += mix(below, above, 0.5 + 0.5 * n.z);
  if (!floored) diffuse += ${light.fill.toFixed(4)};
  vec3 light;
  float opacity = colour.a;
  if (floored) {
    float far = length(world.xy - centre.xy) / reach;
    float fade = clamp(1.5 - 1.5 * far, 0.0, 1.0);
    light = ground * mix(vec3(1.0), diffuse / open, fade * fade * (3.0 - 2.0 * fade));
    opacity = 1.0;
  } else {
    float facing = max(dot(n, look), 0.0);
    float studio = 0.12 + 0.88 / (1.0 + exp(-6.0 * (reflect(-look, n).z - 0.15)));
    float fresnel = 0.04 + 0.5 * pow(1.0 - facing, 5.0);
    float highlight = pow(max(dot(n, normalize(sun + look)), 0.0), 64.0);
    float skyward = min(dot(diffuse, vec3(1.0 / 3.0)), 1.0);
    light = diffuse * colour.rgb * (1.0 - fresnel) + fresnel * studio * skyward + ${light.shine.toFixed(4)} * highlight * shine;
  }
  seen = vec4(resting ? light : tone(light), opacity);
}`;

const DEPTH = `#version 300 es
precision highp float;
void main() {}`;

const PLAIN = `#version 300 es
precision highp float;
uniform vec4 colour;
out vec4 seen;
void main() { seen = colour; }`;

const FULL = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }`;

const MEAN = `#version 300 es
precision highp float;
uniform sampler2D fresh, sum;
uniform float share;
out vec4 seen;
void main() { ivec2 at = ivec2(gl_FragCoord.xy); seen = mix(texelFetch(sum, at, 0), texelFetch(fresh, at, 0), share); }`;

const SHOW = `#version 300 es
precision highp float;
uniform sampler2D sum;
uniform float share;
out vec4 seen;
${TONE}
void main() { seen = vec4(tone(texelFetch(sum, ivec2(gl_FragCoord.xy), 0).rgb), share); }`;

const canvas = byId('view');
const gl = canvas.getContext('webgl2', { antialias: true, alpha: false });

function fail(sentence) {
  byId('trouble').textContent = sentence;
  byId('trouble').hidden = false;
}

function program(vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  const at = {};
  for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
    const { name } = gl.getActiveUniform(made, i);
    at[name] = gl.getUniformLocation(made, name);
  }
  return { made, at };
}

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

function geometry(vertices, indices) {
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, vertices, gl.STATIC_DRAW);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
  for (const place of [0, 1]) {
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 24, place * 12);
  }
  return array;
}

function texture(format, width, height) {
  const made = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, made);
  gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
  for (const edge of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, edge, gl.CLAMP_TO_EDGE);
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
  return made;
}

function target(size, colour, depth) {
  const buffer = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
  if (colour) gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, colour, 0);
  if (depth) gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, depth, 0);
  return { buffer, size, colour, depth };
}

function shadowMap(size) {
  const depth = texture(gl.DEPTH_COMPONENT24, size, size);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.LINEAR);
  return target([size, size], null, depth);
}

function discard(made) {
  for (const part of made) {
    for (const image of [part.colour, part.depth]) if (image) gl.deleteTexture(image);
    gl.deleteFramebuffer(part.buffer);
  }
}

// An arrow along z, one long: eight sides of a shaft and of a tip.
function arrow() {
  const vertices = [], indices = [];
  const rings = [[0.025, 0], [0.025, 0.76], [0.075, 0.76], [0, 1]];
  for (const [radius, z] of rings) {
    for (let i = 0; i < 8; i++) vertices.push(radius * Math.cos(i * Math.PI / 4), radius * Math.sin(i * Math.PI / 4), z, 0, 0, 1);
  }
  for (let ring = 0; ring + 1 < rings.length; ring++) {
    for (let i = 0; i < 8; i++) {
      const a = ring * 8 + i, b = ring * 8 + (i + 1) % 8;
      indices.push(a, b, a + 8, b, b + 8, a + 8);
    }
  }
  return { array: geometry(new Float32Array(vertices), new Uint32Array(indices)), count: indices.length };
}

// ---------------------------------------------------------------- the picture

const FLOOR_REACH = 3, SUN_MAP = 2048, SKY_MAP = 512;
const ON_FLOOR = new Float32Array([-1, -1, 0, 0, 0, 1, 1, -1, 0, 0, 0, 1, -1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1]);
const HALF = data.camera.field_of_view / 2;

class Picture {
  constructor() {
    this.surface = program(VERTEX, SURFACE);
    this.depth = program(VERTEX, DEPTH);
    this.plain = program(VERTEX, PLAIN);
    this.mean = program(FULL, MEAN);
    this.show = program(FULL, SHOW);
    this.robot = geometry(bytes(data.vertices), bytes(data.indices));
    this.floor = geometry(ON_FLOOR, new Uint32Array([0, 1, 2, 1, 3, 2]));
    this.arrow = arrow();
    this.sunMap = shadowMap(SUN_MAP);
    this.skyMap = shadowMap(SKY_MAP);
    this.averages = Boolean(gl.getExtension('EXT_color_buffer_float'));
    this.layers = [];
    this.shot = 0;
    this.view = { azimuth: 0, elevation: 0, distance: 1, target: [0, 0, 0] };
    this.reset();
  }

  reset() {
    const { azimuth, elevation, target, radius } = data.camera;
    this.view = { azimuth, elevation, target: [...target], distance: 0.82 * radius / Math.sin(HALF) / Math.min(1, this.aspect()) };
    this.changed();
  }

  aspect() { return canvas.clientWidth / Math.max(canvas.clientHeight, 1) || 1; }

  changed() {
    this.shot = 0;
    delete document.body.dataset.resting;
    if (!this.waiting) { this.waiting = true; requestAnimationFrame(() => this.frame()); }
  }

  axes() {
    const { azimuth, elevation } = this.view, level = Math.cos(elevation);
    const back = [level * Math.cos(azimuth), level * Math.sin(azimuth), Math.sin(elevation)];
    const right = [-Math.sin(azimuth), Math.cos(azimuth), 0];
    return { back, right, up: cross(back, right) };
  }

  camera(jitter) {
    const { back, right, up } = this.axes(), { distance, target } = this.view;
    const eye = plus(target, scaled(back, distance));
    const turn = rows(right, up, back, [-dot(right, eye), -dot(up, eye), -dot(back, eye)]);
    const near = distance * 0.02, far = distance * 20, focal = 1 / Math.tan(HALF);
    const lens = new Float32Array([focal / this.aspect(), 0, 0, 0, 0, focal, 0, 0,
      jitter[0], jitter[1], (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0]);
    return { eye, matrix: multiply(lens, turn) };
  }

  fit() {
    const width = Math.max(1, Math.round(canvas.clientWidth * Math.min(devicePixelRatio, 2)));
    const height = Math.max(1, Math.round(canvas.clientHeight * Math.min(devicePixelRatio, 2)));
    if (canvas.width === width && canvas.height === height && (this.layers.length || !this.averages)) return;
    canvas.width = width;
    canvas.height = height;
    discard(this.layers);
    if (this.averages) {
      const fresh = target([width, height], texture(gl.RGBA16F, width, height), texture(gl.DEPTH_COMPONENT24, width, height));
      const sums = [0, 1].map(() => target([width, height], texture(gl.RGBA32F, width, height), null));
      this.layers = [fresh, ...sums];
    }
    this.shot = 0;
  }

  // The ball around what is shown, which the lights' maps cover.
  bounds(poses, parts) {
    const balls = parts.map((part) => [moved(poses[part.link], part.centre), part.radius]);
    if (!balls.length) return { centre: [0, 0, 0.5], radius: 1 };
    const centre = scaled(balls.reduce((sum, [middle]) => plus(sum, middle), [0, 0, 0]), 1 / balls.length);
    return { centre, radius: Math.max(...balls.map(([middle, size]) => Math.hypot(...plus(middle, scaled(centre, -1))) + size)) };
  }

  lightFrame(direction, { centre, radius }) {
    const right = unit(cross(Math.abs(direction[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], direction));
    const [x, y, z] = [right, cross(direction, right), scaled(direction, -1)].map((row) => scaled(row, 1 / radius));
    return rows(x, y, z, [-dot(x, centre), -dot(y, centre), -dot(z, centre)]);
  }

  draw(at, parts, poses, coloured) {
    gl.bindVertexArray(this.robot);
    for (const part of parts) {
      gl.uniformMatrix4fv(at.model, false, poses[part.link]);
      if (coloured) gl.uniform4fv(at.colour, part.tint);
      gl.drawElements(gl.TRIANGLES, part.count, gl.UNSIGNED_INT, part.first * 4);
    }
  }

  cast(map, frame, parts, poses) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, map.buffer);
    gl.viewport(0, 0, ...map.size);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.depth.made);
    gl.uniformMatrix4fv(this.depth.at.camera, false, frame);
    this.draw(this.depth.at, parts, poses, false);
  }

  // What there is to draw: solid parts first, then those that one sees through.
  parts() {
    const visual = byId('visual').checked, collision = byId('collision').checked;
    const shown = data.parts.filter((part) => (part.collision ? collision : visual));
    for (const part of shown) {
      const [r, g, b, a] = part.colour;
      part.tint = [toLinear(r), toLinear(g), toLinear(b), part.collision && visual ? 0.4 : a];
    }
    return shown.sort((one, other) => other.tint[3] - one.tint[3]);
  }

  paint(scene, shot) {
    const { parts, poses, ball } = scene, resting = shot !== null;
    const solid = parts.filter((part) => part.tint[3] > 0.5);
    const sun = keyLight(this.view.azimuth, shot), sky = skyLight(resting ? shot : 0);
    const sunFrame = this.lightFrame(sun, ball), skyFrame = this.lightFrame(sky, ball);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    this.cast(this.sunMap, sunFrame, solid, poses);
    if (resting) this.cast(this.skyMap, skyFrame, solid, poses);

    gl.bindFramebuffer(gl.FRAMEBUFFER, resting ? this.layers[0].buffer : null);
    gl.viewport(0, 0, canvas.width, canvas.height);
    const ground = backdrop();
    gl.clearColor(...(resting ? ground : scene.behind), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const { made, at } = this.surface;
    gl.useProgram(made);
    const { eye, matrix } = this.camera(resting ? this.jitter(shot) : [0, 0]);
    gl.uniformMatrix4fv(at.camera, false, matrix);
    gl.uniformMatrix4fv(at.sunFrame, false, sunFrame);
    gl.uniformMatrix4fv(at.skyFrame, false, skyFrame);
    const above = scaled(light.sky, 1.08);
    const open = plus(scaled(light.sun, Math.sin(light.sun_elevation)), above);
    const vectors = { eye, sun, sky, ground, above, open, sunColour: light.sun, skyColour: skyColour(sky[2]), below: light.bounce, centre: ball.centre };
    for (const [name, vector] of Object.entries(vectors)) gl.uniform3fv(at[name], vector);
    gl.uniform2f(at.offset, 3 * ball.radius / SUN_MAP, 3 * ball.radius / SKY_MAP);
    gl.uniform1f(at.reach, FLOOR_REACH * ball.radius);
    gl.uniform1i(at.resting, resting);
    gl.uniform1i(at.sunMap, 0);
    gl.uniform1i(at.skyMap, 1);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.skyMap.depth);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.sunMap.depth);

    if (eye[2] > data.floor) {
      const side = FLOOR_REACH * ball.radius;
      gl.uniform1i(at.floored, true);
      gl.uniformMatrix4fv(at.model, false, new Float32Array([side, 0, 0, 0, 0, side, 0, 0, 0, 0, 1, 0, ball.centre[0], ball.centre[1], data.floor, 1]));
      gl.uniform4f(at.colour, 1, 1, 1, 1);
      gl.bindVertexArray(this.floor);
      gl.drawElements(gl.TRIANGLES, 6, gl.UNSIGNED_INT, 0);
    }
    gl.uniform1i(at.floored, false);
    this.draw(at, parts.filter((part) => part.tint[3] >= 1), poses, true);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.enable(gl.POLYGON_OFFSET_FILL); // a collision solid may lie exactly in the surface that is seen
    gl.polygonOffset(-1, -8);
    this.draw(at, parts.filter((part) => part.tint[3] < 1), poses, true);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.disable(gl.BLEND);
  }

  jitter(shot) {
    const tent = (even) => (even < 0.5 ? Math.sqrt(2 * even) - 1 : 1 - Math.sqrt(2 * (1 - even)));
    const x = tent((shot + 0.5) / SHOTS), y = tent((((shot * 55) % SHOTS) + 0.5) / SHOTS);
    return [1.6 * x / canvas.width, 1.6 * y / canvas.height];
  }

  // A full-screen pass over textures; `share` is how much of the first one is taken.
  pass({ made, at }, target, share, images) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(made);
    Object.entries(images).forEach(([name, image], unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, image);
      gl.uniform1i(at[name], unit);
    });
    gl.activeTexture(gl.TEXTURE0);
    gl.uniform1f(at.share, share);
    gl.bindVertexArray(this.floor);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  frames(poses, ball) {
    const { made, at } = this.plain, size = 0.15 * ball.radius;
    const along = [[0, 0, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]];
    const colours = [[0.86, 0.16, 0.14, 1], [0.13, 0.62, 0.2, 1], [0.12, 0.36, 0.93, 1]];
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(made);
    gl.uniformMatrix4fv(at.camera, false, this.camera([0, 0]).matrix);
    gl.bindVertexArray(this.arrow.array);
    for (const pose of poses) {
      along.forEach((turn, axis) => {
        gl.uniformMatrix4fv(at.model, false, multiply(pose, [...turn.map((part) => part * size), 0, 0, 0, 1]));
        gl.uniform4fv(at.colour, colours[axis]);
        gl.drawElements(gl.TRIANGLES, this.arrow.count, gl.UNSIGNED_INT, 0);
      });
    }
  }

  frame() {
    this.waiting = false;
    this.fit();
    const poses = linkPoses(), parts = this.parts(), ball = this.bounds(poses, parts);
    const hex = getComputedStyle(document.documentElement).getPropertyValue('--ground').trim();
    const scene = { poses, parts, ball, behind: [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255) };
    const fade = Math.min(1, this.shot / Math.min(24, SHOTS));
    if (fade < 1) this.paint(scene, null);
    if (this.shot > 0) {
      this.paint(scene, this.shot - 1);
      const [fresh, from, to] = this.layers;
      this.pass(this.mean, to.buffer, 1 / this.shot, { fresh: fresh.colour, sum: from.colour });
      this.layers = [fresh, to, from];
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
      this.pass(this.show, null, fade, { sum: to.colour });
      gl.disable(gl.BLEND);
    }
    if (byId('frames').checked) this.frames(poses, ball);
    if (this.averages && this.shot < SHOTS) {
      this.shot += 1;
      this.waiting = true;
      requestAnimationFrame(() => this.frame());
    } else document.body.dataset.resting = 'yes';
  }
}
