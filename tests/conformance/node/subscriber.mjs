// Follows one character and prints one line of JSON per message.
// Written from protocol/spec/README.md alone, to show that the text is enough.
//
//   node subscriber.mjs ADDRESS CHARACTER POSES
//
// Ends after that many poses; ends with code 1 after 20 seconds without a message.
// 64-bit integers are printed as text, since JSON readers may round large numbers.

import { decode } from "@msgpack/msgpack";
import { Subscriber } from "zeromq";

const SILENCE_MS = 20_000;

function bin(map, key, bytes) {
  const value = map[key];
  if (!(value instanceof Uint8Array)) throw new Error(`'${key}' must be bin`);
  if (bytes !== undefined && value.length !== bytes) {
    throw new Error(`'${key}' has ${value.length} bytes; allowed: ${bytes}`);
  }
  return value;
}

// Little-endian float32 numbers at any alignment.
function floats(data) {
  if (data.length % 4) throw new Error(`${data.length} bytes are no float32 numbers`);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return Array.from({ length: data.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}

function rows(data, width) {
  const flat = floats(data);
  return Array.from({ length: flat.length / width }, (_, i) => flat.slice(i * width, (i + 1) * width));
}

function integers16(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return Array.from({ length: data.length / 2 }, (_, i) => view.getInt16(2 * i, true));
}

const wide = (value) => BigInt(value).toString();
// JSON has no infinities; joint limits may be infinite.
const printable = (pairs) => pairs.map((pair) => pair.map((x) => (Number.isFinite(x) ? x : x > 0 ? "inf" : "-inf")));

function readSkeleton(map) {
  if (map.v !== 1) throw new Error(`protocol version ${map.v}; this reader knows 1`);
  const n = map.joints.length;
  const skeleton = {
    v: map.v,
    id: map.id,
    joints: map.joints,
    parents: integers16(bin(map, "parents", 2 * n)),
    offsets: rows(bin(map, "offsets", 12 * n), 3),
    rest: rows(bin(map, "rest", 16 * n), 4),
    kinds: Array.from(bin(map, "kinds", n)),
  };
  if (map.axes != null) skeleton.axes = rows(bin(map, "axes", 12 * n), 3);
  if (map.limits != null) skeleton.limits = printable(rows(bin(map, "limits", 8 * n), 2));
  if (map.tips != null) skeleton.tips = rows(bin(map, "tips", 12 * n), 3);
  skeleton.markers = (map.markers ?? []).map((marker) => ({
    name: marker.name,
    joint: marker.joint,
    offset: floats(bin(marker, "offset", 12)),
  }));
  skeleton.contacts = map.contacts ?? [];
  skeleton.effectors = map.effectors ?? [];
  return skeleton;
}

function readPose(map, skeleton) {
  const pose = {
    seq: wide(map.seq),
    skeleton: map.skeleton,
    source_seq: wide(map.source_seq),
    root: floats(bin(map, "root", 12)),
    rot: rows(bin(map, "rot", 16 * skeleton.joints.length), 4),
    contacts: Array.from(bin(map, "contacts")),
    residual: map.residual,
    status: map.status,
    t_capture: wide(map.t_capture),
    t_arrival: wide(map.t_arrival),
    t_publish: wide(map.t_publish),
    delay: wide(map.delay),
  };
  if (map.angles != null) pose.angles = floats(bin(map, "angles"));
  return pose;
}

function readEvent(map) {
  return { kind: map.kind, text: map.text, t: wide(map.t), data: map.data ?? {} };
}

function print(kind, content) {
  const line = JSON.stringify({ kind, content }, (_, x) => (typeof x === "bigint" ? x.toString() : x));
  process.stdout.write(`${line}\n`);
}

async function follow(address, character, poses) {
  const socket = new Subscriber({ receiveTimeout: SILENCE_MS, linger: 0 });
  socket.connect(address);
  socket.subscribe(`${character}/`);
  let skeleton = null;
  let seen = 0;
  while (seen < poses) {
    const parts = await socket.receive();
    if (parts.length !== 2) continue;
    const topic = parts[0].toString("utf8");
    const kind = topic.slice(topic.lastIndexOf("/") + 1);
    try {
      const map = decode(parts[1], { useBigInt64: true });
      if (kind === "skeleton") {
        skeleton = readSkeleton(map);
        print(kind, skeleton);
      } else if (kind === "pose" && skeleton !== null && map.skeleton === skeleton.id) {
        print(kind, readPose(map, skeleton));
        seen += 1;
      } else if (kind === "event") {
        print(kind, readEvent(map));
      }
    } catch (error) {
      // What breaks a rule is dropped, and the stream goes on.
      process.stderr.write(`${topic}: ${error.message}\n`);
    }
  }
  socket.close();
}

const [address, character, poses] = process.argv.slice(2);
if (!(Number(poses) > 0)) {
  process.stderr.write("usage: node subscriber.mjs ADDRESS CHARACTER POSES\n");
  process.exit(2);
}
try {
  await follow(address, character, Number(poses));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
