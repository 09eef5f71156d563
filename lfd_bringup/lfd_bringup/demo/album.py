"""Pictures of a robot's motion, drawn while the arm moves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from lfd_description.meshes import MeshError
from lfd_description.model.model import RobotModel
from lfd_description.pictures.contact_sheet import Captioned
from lfd_description.pictures.scene_picture import PictureError
from lfd_description.urdf import UrdfError

from .job import Job
from .judge import Judgement
from .picture import Photographer


class Album:
    """The pictures of one robot; a thread of its own draws them, and stops when the album is closed."""

    def __init__(self, job: Job, model: RobotModel) -> None:
        self._job = job
        self._model = model
        self._thread = ThreadPoolExecutor(1)
        self._closed = threading.Event()
        self._drawing: Future[tuple[Captioned, ...]] | None = None

    def __enter__(self) -> Album:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        self._thread.shutdown()

    def begin(self, judgement: Judgement) -> None:
        """Start to draw a motion, if it could be replayed."""
        self._drawing = self._thread.submit(lambda: tuple(self._drawn(judgement)))

    def shots(self) -> tuple[Captioned, ...]:
        """All pictures, as soon as they are ready; none if there was nothing to draw.

        Raises:
            PictureError: the robot or the scene cannot be drawn; the message is one sentence for the user.
        """
        try:
            return self._drawing.result() if self._drawing is not None else ()
        except (MeshError, UrdfError) as error:
            raise PictureError(str(error)) from None

    def _drawn(self, judgement: Judgement) -> Iterator[Captioned]:
        if judgement.story is None:
            return
        camera = Photographer(self._job, self._model, judgement.stage, judgement.story)
        for moment in camera.moments:
            if self._closed.is_set():
                return
            yield camera.picture(moment)
