"""Small glTF files made on the spot, so that reader tests need no third-party character."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


class GltfBuilder:
    """Collects nodes, skins and meshes, and writes them as a GLB or as JSON with a buffer."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = {"asset": {"version": "2.0"}, "nodes": []}
        self.binary = b""

    def node(self, name: str, parent: int | None = None, **fields: Any) -> int:
        """Add a node with glTF's own fields (translation, rotation, scale, matrix)."""
        nodes = self.document["nodes"]
        nodes.append({"name": name, **fields})
        if parent is not None:
            nodes[parent].setdefault("children", []).append(len(nodes) - 1)
        return len(nodes) - 1

    def chain(
        self, parent: int | None, *names: str, step: Sequence[float] = (0, 1, 0)
    ) -> list[int]:
        """Add nodes one below the other, each `step` from the one above."""
        added: list[int] = []
        for name in names:
            above = added[-1] if added else parent
            added.append(self.node(name, above, translation=list(step)))
        return added

    def accessor(self, values: ArrayLike, shape: str, component: int = 5126) -> int:
        """Add values (rows, width) as an accessor over a buffer view of its own."""
        dtype = {5121: "<u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}[component]
        data = np.asarray(values).astype(dtype)
        view = self.view(data.tobytes())
        return self._append(
            "accessors",
            {"bufferView": view, "componentType": component, "count": len(data), "type": shape},
        )

    def view(self, data: bytes) -> int:
        """Add raw bytes as a buffer view."""
        record = {"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data)}
        self.binary += data + b"\0" * (-len(data) % 4)
        return self._append("bufferViews", record)

    def skin(self, joints: Sequence[int], binds: ArrayLike | None = None) -> int:
        """Add a skin; `binds` (k, 4, 4) are joint_from_mesh, by default the joints' as they are."""
        worlds = self.worlds()
        matrices = (
            np.linalg.inv(worlds[list(joints)]) if binds is None else np.asarray(binds, np.float64)
        )
        rows = matrices.transpose(0, 2, 1).reshape(-1, 16)
        record = {
            "joints": list(joints),
            "inverseBindMatrices": self.accessor(rows, "MAT4"),
        }
        return self._append("skins", record)

    def skinned_mesh(
        self, skin: int, points: Sequence[Sequence[float]], carriers: Sequence[int]
    ) -> int:
        """Add vertices (v, 3), each moved by one row of the skin, and the node that shows them."""
        rows = np.zeros((len(carriers), 4))
        rows[:, 0] = carriers
        shares = np.zeros((len(carriers), 4))
        shares[:, 0] = 1.0
        attributes = {
            "POSITION": self.accessor(points, "VEC3"),
            "JOINTS_0": self.accessor(rows, "VEC4", 5123),
            "WEIGHTS_0": self.accessor(shares, "VEC4"),
        }
        mesh = self._append("meshes", {"primitives": [{"attributes": attributes}]})
        return self.node("body", mesh=mesh, skin=skin)

    def rigid_mesh(self, parent: int, points: Sequence[Sequence[float]]) -> int:
        """Add vertices (v, 3) that hang on a node as a whole."""
        attributes = {"POSITION": self.accessor(points, "VEC3")}
        mesh = self._append("meshes", {"primitives": [{"attributes": attributes}]})
        return self.node("part", parent, mesh=mesh)

    def worlds(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """world_from_node (n, 4, 4) of everything added so far."""
        return node_worlds(self.document)

    def finished(self) -> dict[str, Any]:
        """The document with its buffer declared."""
        return {**self.document, "buffers": [{"byteLength": len(self.binary)}]}

    def glb(self) -> bytes:
        """The file as GLB bytes."""
        return glb_bytes(self.finished(), self.binary)

    def write(self, path: Path) -> Path:
        """Write the GLB and return its path."""
        path.write_bytes(self.glb())
        return path

    def _append(self, key: str, record: dict[str, Any]) -> int:
        records = self.document.setdefault(key, [])
        records.append(record)
        return len(records) - 1


def glb_bytes(document: dict[str, Any], binary: bytes) -> bytes:
    """A GLB of a JSON document and a binary chunk."""
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    chunks += struct.pack("<II", len(binary), 0x004E4942) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def open_glb(path: Path) -> tuple[dict[str, Any], bytes]:
    """The JSON document and the binary chunk of a GLB that is known to be sound."""
    data = path.read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + length]), data[20 + length + 8 :]


def node_worlds(document: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """world_from_node (n, 4, 4) by the textbook: the product of local matrices from the top."""
    nodes = document["nodes"]
    above = {child: i for i, node in enumerate(nodes) for child in node.get("children", [])}

    def world(index: int) -> Any:
        here = _local(nodes[index])
        return world(above[index]) @ here if index in above else here

    return np.array([world(i) for i in range(len(nodes))])


def _local(node: dict[str, Any]) -> Any:
    if "matrix" in node:
        return np.reshape(node["matrix"], (4, 4), order="F").astype(np.float64)
    x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross
    local = np.eye(4)
    local[:3, :3] = turn @ np.diag(node.get("scale", (1.0, 1.0, 1.0)))
    local[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return local
