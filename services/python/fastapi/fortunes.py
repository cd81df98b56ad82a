from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from fastapi.templating import Jinja2Templates
from sqlmodel import Field, SQLModel, select

from database import Session

router = APIRouter()
templates = Jinja2Templates(directory="templates")


class Fortune(SQLModel, table=True):
    id: int = Field(primary_key=True)
    message: str


@router.get("/fortunes", response_class=HTMLResponse)
async def fortunes(request: Request, session: Session) -> HTMLResponse:
    fortunes = list(await session.exec(select(Fortune)))
    fortunes.append(Fortune(id=0, message="Additional fortune added at request time."))
    fortunes.sort(key=lambda fortune: fortune.message)
    return templates.TemplateResponse(request, "fortunes.html", {"fortunes": fortunes})
