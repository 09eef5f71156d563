"""The RTDE side of a simulated UR controller: variables, recipes and frames of each client.

Written from the protocol alone and without the driver's codec, so that a mistake there is not made twice.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from support.ur_controller import PLAYING, REGISTERS, RUNNING, Controller

STRUCT = {
    'BOOL': '?',
    'UINT8': 'B',
    'UINT32': 'I',
    'UINT64': 'Q',
    'INT32': 'i',
    'DOUBLE': 'd',
    'VECTOR3D': '3d',
    'VECTOR6D': '6d',
    'VECTOR6INT32': '6i',
    'VECTOR6UINT32': '6I',
}

# Variables that a controller has but that mean nothing here: they are always zero.
STILL = {
    'DOUBLE': 'actual_execution_time actual_momentum actual_main_voltage actual_robot_voltage actual_robot_current '
    'standard_analog_input0 standard_analog_input1 standard_analog_output0 standard_analog_output1 io_current '
    'tool_analog_input0 tool_analog_input1 tool_output_current tool_temperature tcp_force_scalar payload '
    'collision_detection_ratio joint_position_deviation_ratio',
    'VECTOR6D': 'target_qdd target_current target_moment joint_control_output actual_TCP_pose '
    'actual_TCP_speed actual_TCP_force target_TCP_pose target_TCP_speed joint_temperatures actual_joint_voltage '
    'ft_raw_wrench payload_inertia actual_current_as_torque actual_current_window',
    'VECTOR3D': 'actual_tool_accelerometer elbow_position elbow_velocity payload_cog',
    'UINT64': 'actual_digital_input_bits actual_digital_output_bits',
    'UINT32': 'analog_io_types tool_mode tool_analog_input_types output_bit_registers0_to_31 '
    'output_bit_registers32_to_63 input_bit_registers0_to_31 input_bit_registers32_to_63 euromap67_input_bits '
    'euromap67_output_bits script_control_line',
    'INT32': 'tool_output_voltage time_scale_source',
    'UINT8': 'tool_output_mode tool_digital_output0_mode tool_digital_output1_mode',
    'VECTOR6INT32': 'joint_mode',
}
INPUTS = {
    **dict.fromkeys(('standard_digital_output_mask', 'standard_digital_output'), 'UINT8'),
    **dict.fromkeys(('configurable_digital_output_mask', 'configurable_digital_output'), 'UINT8'),
    **dict.fromkeys(('tool_digital_output_mask', 'tool_digital_output'), 'UINT8'),
    **dict.fromkeys(('standard_analog_output_mask', 'standard_analog_output_type'), 'UINT8'),
    **dict.fromkeys(('standard_analog_output_0', 'standard_analog_output_1'), 'DOUBLE'),
    **dict.fromkeys(('input_bit_registers0_to_31', 'input_bit_registers32_to_63'), 'UINT32'),
    **{f'input_bit_register_{index}': 'BOOL' for index in range(64, 128)},
    **{f'input_int_register_{index}': 'INT32' for index in range(REGISTERS)},
    **{f'input_double_register_{index}': 'DOUBLE' for index in range(REGISTERS)},
    'speed_slider_mask': 'UINT32',
    'speed_slider_fraction': 'DOUBLE',
    'external_force_torque': 'VECTOR6D',
}

Output = tuple[str, Callable[[], Any]]


def output_table(controller: Controller) -> dict[str, Output]:
    """Every output's type and where its value comes from."""
    arm = controller.arm
    table: dict[str, Output] = {
        name: (kind, _always((0,) * int(STRUCT[kind][0]) if kind.startswith('VECTOR') else 0))
        for kind, names in STILL.items()
        for name in names.split()
    }
    table |= {
        'timestamp': ('DOUBLE', lambda: controller.clock),
        'actual_q': ('VECTOR6D', lambda: arm.positions),
        'actual_qd': ('VECTOR6D', lambda: arm.velocities),
        'actual_current': ('VECTOR6D', lambda: arm.currents),
        'target_q': ('VECTOR6D', lambda: arm.target or arm.positions),
        'target_qd': ('VECTOR6D', lambda: arm.velocities),
        'robot_mode': ('INT32', lambda: controller.robot_mode),
        'safety_mode': ('INT32', lambda: controller.safety_mode),
        'safety_status': ('INT32', lambda: controller.safety_mode),
        'runtime_state': ('UINT32', lambda: controller.runtime_state),
        'robot_status_bits': ('UINT32', lambda: status_bits(controller)),
        'safety_status_bits': ('UINT32', lambda: 1 << (controller.safety_mode - 1)),
        'speed_scaling': ('DOUBLE', lambda: 1.0),
        'target_speed_fraction': ('DOUBLE', lambda: controller.slider),
    }
    for kind, name, inputs, outputs in (
        ('INT32', 'int', controller.input_ints, controller.output_ints),
        ('DOUBLE', 'double', controller.input_doubles, controller.output_doubles),
    ):
        for index in range(REGISTERS):
            table[f'input_{name}_register_{index}'] = (kind, lambda values=inputs, at=index: values[at])
            table[f'output_{name}_register_{index}'] = (kind, lambda values=outputs, at=index: values[at])
    return table


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


def status_bits(controller: Controller) -> int:
    return int(controller.robot_mode == RUNNING) | int(controller.runtime_state == PLAYING) << 1


class RtdeServer:
    """What all clients share: who owns which input."""

    def __init__(self, controller: Controller, newest_version: int = 2) -> None:
        self.controller = controller
        self.newest_version = newest_version
        self.outputs = output_table(controller)
        self.owners: dict[str, RtdeClient] = {}

    def set(self, name: str, value: Any) -> None:
        controller = self.controller
        if name.startswith('input_int_register_'):
            controller.input_ints[int(name.rsplit('_', 1)[1])] = value
        elif name.startswith('input_double_register_'):
            controller.input_doubles[int(name.rsplit('_', 1)[1])] = value
        elif name == 'speed_slider_fraction':
            controller.slider = min(max(value, 0.0), 1.0)

    def forget(self, client: RtdeClient) -> None:
        self.owners = {name: owner for name, owner in self.owners.items() if owner is not client}


class RtdeClient:
    """One client's side: bytes in, bytes out."""

    def __init__(self, server: RtdeServer) -> None:
        self._server = server
        self._rest = b''
        self._version = 1
        self._output: list[Output] = []
        self._layout = struct.Struct('>')
        self._every = 1  # cycles from one data frame to the next
        self._cycles = 0
        self._input_recipes: list[list[str]] = []
        self.sends = False

    def receive(self, data: bytes) -> tuple[bytes, list[dict[str, Any]]]:
        """Take bytes; return the answers and the inputs that were set. Raises ValueError at what is no RTDE."""
        self._rest += data
        answers, inputs = b'', []
        while len(self._rest) >= 3:
            size, kind = struct.unpack('>HB', self._rest[:3])
            if size < 3:
                raise ValueError(f'a frame of {size} bytes')
            if len(self._rest) < size:
                break
            payload, self._rest = self._rest[3:size], self._rest[size:]
            if chr(kind) == 'U':
                inputs.append(self._set_inputs(payload))
            else:
                answers += _frame(chr(kind), self._answer(chr(kind), payload))
        return answers, inputs

    def data(self) -> bytes | None:
        """The data frame of this cycle, if one is due."""
        self._cycles += 1
        if not self.sends or self._cycles % self._every:
            return None
        numbers: list[Any] = [1] if self._version > 1 else []
        for kind, value in self._output:
            if kind.startswith('VECTOR'):
                numbers.extend(value())
            else:
                numbers.append(value())
        return _frame('U', self._layout.pack(*numbers))

    def text(self, words: str, level: int = 2) -> bytes:
        """A message to the client."""
        coded = words.encode()
        if self._version == 1:
            return _frame('M', bytes([level]) + coded)
        return _frame('M', bytes([len(coded)]) + coded + b'\x04RTDE' + bytes([level]))

    def _answer(self, kind: str, payload: bytes) -> bytes:
        if kind == 'V':
            (version,) = struct.unpack('>H', payload)
            agreed = 1 <= version <= self._server.newest_version
            self._version = version if agreed else self._version
            return bytes([agreed])
        if kind == 'v':
            return struct.pack('>4I', *self._server.controller.version)
        if kind == 'O':
            return self._set_up_outputs(payload)
        if kind == 'I':
            return self._set_up_inputs(payload)
        if kind == 'S':
            self.sends = bool(self._output)
            return bytes([self.sends])
        if kind == 'P':
            self.sends = False
            return b'\1'
        raise ValueError(f"a frame of the kind '{kind}'")

    def _set_up_outputs(self, payload: bytes) -> bytes:
        rate = float(self._server.controller.rate)
        if self._version > 1:
            (rate,), payload = struct.unpack('>d', payload[:8]), payload[8:]
            if not 0 < rate <= self._server.controller.rate:
                return b'\0'
        names = [name for name in payload.decode('ascii').split(',') if name]
        found = [self._server.outputs.get(name) for name in names]
        types = ','.join('NOT_FOUND' if each is None else each[0] for each in found).encode()
        known = [each for each in found if each is not None]
        self._output = known if len(known) == len(names) else []
        layout = ''.join(STRUCT[kind] for kind, _ in self._output)
        self._layout = struct.Struct('>' + ('B' if self._version > 1 else '') + layout)
        most = 125.0 if self._version == 1 else rate
        self._every = max(1, round(self._server.controller.rate / most))
        return (bytes([bool(self._output)]) if self._version > 1 else b'') + types

    def _set_up_inputs(self, payload: bytes) -> bytes:
        names = [name for name in payload.decode('ascii').split(',') if name]
        owners = self._server.owners
        types = [
            'NOT_FOUND' if name not in INPUTS else 'IN_USE' if owners.get(name, self) is not self else INPUTS[name]
            for name in names
        ]
        number = 0
        if not {'NOT_FOUND', 'IN_USE'} & {*types}:
            self._input_recipes.append(names)
            owners.update(dict.fromkeys(names, self))
            number = len(self._input_recipes)
        return bytes([number]) + ','.join(types).encode()

    def _set_inputs(self, payload: bytes) -> dict[str, Any]:
        names = self._input_recipes[payload[0] - 1]
        layout = struct.Struct('>' + ''.join(STRUCT[INPUTS[name]] for name in names))
        values = dict(zip(names, layout.unpack(payload[1:]), strict=True))
        for name, value in values.items():
            self._server.set(name, value)
        return values


def _frame(kind: str, payload: bytes) -> bytes:
    return struct.pack('>HB', 3 + len(payload), ord(kind)) + payload
